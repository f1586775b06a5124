// What a request loses on a family that cannot express it (docs/fidelity.md).

/** Something that would be lost on a family. */
export interface Loss {
  class: 'hint' | 'behaviour' | 'content';
  code: string;
  param: string;
  message: string;
  /** Without it the request would be empty: not even `svc.compat: drop` allows this loss. */
  essential?: true;
}
