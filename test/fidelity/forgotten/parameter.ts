// A parameter that the canonical form has and no format has heard of: this file must not compile together with them
// (`../forgotten.test.ts`). It is no part of any other check.
import '../../../core/inference/formats/index.ts';

declare module '../../../core/inference/canonical/parameters.ts' {
  interface Generation {
    top_n_sigma?: number;
  }
}
