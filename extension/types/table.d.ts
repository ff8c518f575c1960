// What of mlnlab/display/static/table.js is used here.
export interface TableView {
  /** Show a table; false where it cannot be shown, for which a sentence stands then. */
  table(json: unknown): boolean;
  destroy(): void;
}

export function mount(element: HTMLElement): TableView;
