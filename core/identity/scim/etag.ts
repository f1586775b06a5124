// Versions of resources (RFC 7644 section 3.14): weak tags, compared as such.
import { type Context, canonicalJson, sha256 } from '../../kernel/index.ts';
import { ScimFault } from './fault.ts';

/** The tag of what a resource shows. */
export function tagOf(shown: object): string {
  return `W/"${sha256(canonicalJson(JSON.parse(JSON.stringify(shown))))
    .toString('base64url')
    .slice(0, 22)}"`;
}

function names(header: string, tag: string): boolean {
  const opaque = (one: string) => one.trim().replace(/^W\//, '');
  return header.split(',').some((one) => opaque(one) === '*' || opaque(one) === opaque(tag));
}

/** Refuses a write that is meant for another version; to be called with the resource locked. @throws ScimFault 412. */
export function refuseOtherTag(context: Context, tag: string): void {
  const asked = context.requestHeader('if-match');
  if (asked === null || names(asked, tag)) return;
  throw new ScimFault(412, null, 'The resource has changed since it was read.');
}

/** Whether the caller has this version already. */
export function hasTag(context: Context, tag: string): boolean {
  const held = context.requestHeader('if-none-match');
  return held !== null && names(held, tag);
}
