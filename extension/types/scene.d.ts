// What of mlnlab/display/static/scene.js is used here.
export interface SceneView {
  /** Draw a scene; false where it cannot be drawn, for which a sentence stands then. */
  scene(json: unknown): boolean;
  destroy(): void;
}

export function mount(element: HTMLElement): SceneView;
