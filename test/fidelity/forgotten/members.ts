// Members of a part, of an event, of the request and of a tool that the canonical form has and no format has heard of:
// this file must not compile together with them (`../forgotten.test.ts`). It is no part of any other check.
import '../../../core/inference/formats/index.ts';

declare module '../../../core/inference/canonical/parts.ts' {
  interface ImagePart {
    focus?: number;
  }
}

declare module '../../../core/inference/canonical/answer.ts' {
  interface PartDeltaEvent {
    pace?: number;
  }
}

declare module '../../../core/inference/canonical/types.ts' {
  interface CanonicalRequest {
    patience?: number;
  }
  interface Tool {
    danger?: boolean;
  }
}
