// The look of the editor of models: calm, aligned, the same hues as all displays.
const CODE = "13px/20px var(--vscode-editor-font-family,var(--jp-code-font-family,ui-monospace,'DejaVu Sans Mono',monospace))";

// The colours of mlnlab/display/scene/look.py; a test compares them.
const HUES = {
  text: ["#222", "#e6e6e6", "--vscode-editor-foreground", "--jp-content-font-color1"],
  soft: ["#5c5c5c", "#b0b0b0", "--vscode-descriptionForeground", "--jp-content-font-color2"],
  line: ["#a3a9ae", "#6f767c"],
  shade: ["#8080801a", "#80808026"],
  back: ["#fff", "#111", "--vscode-editor-background", "--jp-layout-color0"],
  blue: ["#0072b2", "#56b4e9"],
  orange: ["#d55e00", "#f0983a"],
  green: ["#008a65", "#3fcfa0"],
  purple: ["#a8508a", "#e3a6cb"],
};
const on = (places, scheme) => `${places.map((place) => `${place} .mle`).join()}{color-scheme:${scheme}}`;
const colour = ([light, dark, ...variables]) => variables.reduceRight((value, name) => `var(${name},${value})`, `light-dark(${light},${dark})`);

export const EDITOR_SHEET =
  `.mle{color-scheme:light dark;${Object.entries(HUES).map(([name, hue]) => `--s-${name}:${colour(hue)}`).join(";")}}` +
  on(["[data-jp-theme-light=true]", ".vscode-light", ".vscode-high-contrast-light", "[theme=light]"], "light") +
  on(["[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast", "[theme=dark]"], "dark") +
  ".mle{color:var(--s-text);font:13px/1.45 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;container-type:inline-size;padding:2px 2px 6px}" +
  ".mle *{box-sizing:border-box}.mle [hidden]{display:none!important}" +
  ".mle button,.mle input,.mle select,.mle textarea{font:inherit;color:inherit}" +
  ".mle button,.mle select,.mle input[type=number],.mle input[type=search],.mle input[type=text]{background:transparent;border:1px solid var(--s-line);border-radius:4px;padding:2px 7px;min-height:26px}" +
  ".mle button{cursor:pointer}.mle button:hover:not(:disabled){background:var(--s-shade)}.mle button:disabled{opacity:.35;cursor:default}" +
  ".mle select option{color:CanvasText;background:Canvas}" +
  ".mle :is(button,input,select,textarea,summary):focus-visible{outline:2px solid var(--s-blue);outline-offset:1px}" +
  ".mle input[type=range]{accent-color:var(--s-blue);margin:0}.mle input[type=checkbox]{accent-color:var(--s-blue);width:15px;height:15px;margin:0}" +
  ".mle-head{display:flex;align-items:center;gap:6px;margin:0 0 8px}.mle-head strong{font-weight:600}.mle-text{display:flex;flex-direction:column;min-width:0}.mle-quiet{color:var(--s-soft)}.mle-space{flex:1}" +
  ".mle-said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}" +
  ".mle-sides{display:grid;grid-template-columns:minmax(0,1fr);gap:14px 20px}@container(min-width:820px){.mle-sides{grid-template-columns:minmax(0,5fr) minmax(0,6fr)}}" +
  ".mle-label{display:block;font-size:11px;letter-spacing:.04em;text-transform:uppercase;color:var(--s-soft);margin:0 0 4px}" +
  // the text
  `.mle-code{position:relative;display:flex;border:1px solid var(--s-line);border-radius:5px;overflow:auto;flex:1 1 auto;max-height:560px;min-height:176px;font:${CODE};background:var(--s-back);tab-size:4}` +
  ".mle-code:focus-within{border-color:var(--s-blue)}" +
  ".mle-gutter{position:sticky;left:0;z-index:3;flex:none;min-width:34px;padding:6px 8px 6px 6px;text-align:right;color:var(--s-soft);background:linear-gradient(var(--s-shade),var(--s-shade)),var(--s-back);user-select:none;min-height:max-content;height:max-content;min-height:100%}" +
  ".mle-gutter .mle-error{color:var(--s-orange);font-weight:700}.mle-gutter .mle-warning{color:var(--s-purple)}" +
  ".mle-stack{position:relative;flex:1 0 auto;height:max-content;min-height:174px}" +
  ".mle-back{padding:6px 12px 64px 8px;white-space:pre;overflow:hidden;min-height:100%}" +
  ".mle-line{position:relative;min-height:20px}.mle-note{position:absolute;padding-left:22px;white-space:pre;color:var(--s-soft);font-size:12px;opacity:.9;pointer-events:none}.mle-note.mle-error{color:var(--s-orange)}.mle-note.mle-warning{color:var(--s-purple)}" +
  ".mle .mle-code textarea{position:absolute;inset:0;width:100%;height:100%;margin:0;padding:6px 12px 64px 8px;border:0;outline:0;line-height:inherit;min-height:0;border-radius:0;resize:none;overflow:hidden;white-space:pre;background:transparent;color:transparent;caret-color:var(--s-text);font:inherit;tab-size:inherit}" +
  ".mle-code textarea::selection{background:color-mix(in srgb,var(--s-blue) 30%,transparent);color:transparent}" +
  ".mle-p{color:var(--s-blue)}.mle-v{color:var(--s-orange)}.mle-c{color:var(--s-green)}.mle-q{color:var(--s-purple)}.mle-n{color:var(--s-text);font-weight:600}.mle-m{color:var(--s-soft);opacity:.85}.mle-x{color:var(--s-soft);opacity:.7;text-decoration:line-through;text-decoration-thickness:1px}" +
  ".mle-bad{text-decoration:underline wavy var(--s-orange);text-decoration-skip-ink:none;text-underline-offset:3px}.mle-bad.mle-warning{text-decoration-style:dotted;text-decoration-color:var(--s-purple);text-decoration-thickness:2px}" +
  ".mle-card{position:absolute;z-index:4;max-width:min(46ch,90%);padding:6px 9px;border:1px solid var(--s-line);border-left:3px solid var(--s-orange);border-radius:4px;background:var(--s-back);box-shadow:0 3px 12px #0003;font:12.5px/1.4 system-ui,'Segoe UI',Roboto,sans-serif;overflow-wrap:anywhere;white-space:normal}" +
  ".mle-card.mle-warning{border-left:3px dashed var(--s-purple)}.mle-card button,.mle-list button{min-height:22px;padding:0 6px;border-color:var(--s-blue);color:var(--s-blue)}" +
  ".mle-list{list-style:none;margin:6px 0 0;padding:0}.mle-list li{display:flex;gap:7px;align-items:baseline;padding:2px 0;overflow-wrap:anywhere}.mle-list button{flex:none}.mle-list .mle-go{border-color:transparent;font-variant-numeric:tabular-nums;color:var(--s-soft);min-width:48px;text-align:left}.mle-list .mle-error{color:var(--s-orange)}.mle-list .mle-warning{color:var(--s-purple)}" +
  ".mle details summary{cursor:pointer;color:var(--s-soft);margin-top:4px}" +
  // the table
  ".mle-rows{list-style:none;margin:0;padding:0;border-top:1px solid var(--s-line);max-height:560px;overflow-y:auto}.mle-rows.mle-rests{opacity:.5}" +
  ".mle-row{display:grid;grid-template-columns:22px minmax(0,1fr) auto;gap:1px 8px;align-items:center;padding:6px 2px;border-bottom:1px solid color-mix(in srgb,var(--s-line) 55%,transparent)}" +
  ".mle-formula{grid-column:2;font-size:14px;overflow-wrap:anywhere}.mle-row.mle-off .mle-formula{opacity:.5;text-decoration:line-through;text-decoration-thickness:1px}" +
  ".mle-formula .mle-v{font-style:italic}.mle-formula .mle-q{font-weight:600}" +
  ".mle-weight{grid-column:2;display:flex;align-items:center;gap:8px;min-height:28px}.mle-weight input[type=range]{flex:1 1 90px;max-width:260px;min-width:60px}.mle .mle-weight input[type=number]{width:84px;text-align:right;font-variant-numeric:tabular-nums;padding:1px 4px}" +
  ".mle-row.mle-off .mle-weight{opacity:.5}.mle-toggle[aria-pressed=true]{background:var(--s-text)!important;color:var(--s-back);border-color:var(--s-text)}.mle .mle-toggle{padding:0 7px;min-height:22px;font-size:11.5px}" +
  ".mle-badge{font-size:11px;padding:0 6px;border:1px dashed var(--s-soft);border-radius:3px;white-space:nowrap;color:var(--s-soft)}" +
  ".mle-acts{grid-column:3;grid-row:1/span 2;display:flex;gap:2px;align-self:center}.mle .mle-acts button{border-color:transparent;padding:0;min-width:24px;min-height:24px;color:var(--s-soft)}" +
  ".mle-tick{grid-column:1;grid-row:1/span 2;align-self:start;padding-top:2px;display:flex}" +
  ".mle-add{display:flex;gap:6px;margin:10px 0 0}.mle .mle-add input{flex:1;min-width:0;font:13px var(--jp-code-font-family,monospace)}.mle-add input.mle-error{border-color:var(--s-orange)}.mle-hint{min-height:18px;font-size:12px;color:var(--s-soft);overflow-wrap:anywhere}.mle-hint.mle-error{color:var(--s-orange)}";
