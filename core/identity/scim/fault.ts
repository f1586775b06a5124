// Refusals as SCIM says them (RFC 7644 section 3.12).

type ScimType =
  | 'invalidFilter'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** A refusal of a request of a directory; nothing of it is done. */
export class ScimFault extends Error {
  readonly status: number;
  readonly scim_type: ScimType | null;

  constructor(status: number, scim_type: ScimType | null, detail: string) {
    super(detail);
    this.name = 'ScimFault';
    this.status = status;
    this.scim_type = scim_type;
  }
}

/** A request that is wrong in itself. */
export function wrong(scim_type: ScimType, detail: string): ScimFault {
  return new ScimFault(400, scim_type, detail);
}

/** There is no such resource in the organization of the token. */
export function missing(): ScimFault {
  return new ScimFault(404, null, 'There is no such resource.');
}

/** Something that can be there once is there already. */
export function taken(detail: string): ScimFault {
  return new ScimFault(409, 'uniqueness', detail);
}

/** The body of an error answer. */
export function faultBody(status: number, scim_type: ScimType | null, detail: string): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scim_type === null ? {} : { scimType: scim_type }),
    detail,
  };
}
