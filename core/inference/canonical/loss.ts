// What is lost of a request where a family has no place for it (docs/fidelity.md).

/** A thing that would be lost on a family. */
export interface Loss {
  class: 'hint' | 'behaviour' | 'content';
  code: string;
  param: string;
  message: string;
  /** Without it nothing would be left to ask: `svc.compat: drop` does not let it go. */
  essential?: true;
}
