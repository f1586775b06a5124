// Accepting a version for an organization, with the evidence: who, when, from where, by what, and the text itself.
import { writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, orgCaller, ServiceError } from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { acceptableVersions, acceptanceOf } from './documents.ts';
import { insertAcceptance, keepText, listAcceptances, listVersions } from './store.ts';
import { digestOf, textOf } from './texts.ts';
import type { Acceptance, DocumentKind, LegalVersion } from './types.ts';

interface Signing {
  readonly signer_name?: string;
  readonly signer_title?: string;
}

/** Who accepts: a person, or a key, which stands for the person who made it. */
function signerOf({ caller }: Context): Pick<Acceptance, 'user_id' | 'user_email' | 'key_id' | 'method'> {
  if (caller.kind === 'session')
    return { user_id: caller.user_id, user_email: caller.email, key_id: null, method: 'click_through' };
  if (caller.kind === 'key')
    return { user_id: caller.maker?.user_id ?? null, user_email: null, key_id: caller.key_id, method: 'api' };
  return { user_id: null, user_email: null, key_id: null, method: 'api' };
}

/** Writes the acceptance of `version`, or returns the one of before. The caller holds the lock of the organization. */
async function acceptOnce(
  context: Context,
  args: { org_id: Id<'org'>; version: LegalVersion; signing: Signing },
): Promise<{ acceptance: Acceptance; replay: boolean }> {
  const { org_id, version, signing } = args;
  const before = acceptanceOf(version, await listAcceptances(context.db, org_id));
  if (before !== null) return { acceptance: before, replay: true };
  const text = await textOf(context, { version, org_id });
  const text_sha256 = digestOf(text);
  await keepText(context.db, { sha256: text_sha256, text });
  const acceptance = await insertAcceptance(context.db, {
    ...{ org_id, kind: version.kind, version: version.version, accepted_at: context.now() },
    ...{ ...signerOf(context), ip: context.client_ip, text_sha256 },
    signer_name: signing.signer_name ?? null,
    signer_title: signing.signer_title ?? null,
  });
  if (acceptance === null) throw new Error('accepted twice under the lock of the organization');
  await writeAudit(context, {
    ...{ action: 'legal.documents.accept', org_id },
    target: { type: 'legal_document', id: `${version.kind} ${version.version}`, display: version.title },
    after: { method: acceptance.method, text_sha256: text_sha256.toString('hex') },
  });
  return { acceptance, replay: false };
}

/**
 * `POST /v1/legal/documents/{kind}/accept`: the version in force, or one that comes. Accepting again returns the first
 * acceptance. @throws ServiceError not_found, version_mismatch.
 */
export function acceptDocument(
  context: Context,
  given: Signing & { readonly kind: DocumentKind; readonly version: string },
): Promise<{ acceptance: Acceptance; replay: boolean }> {
  const { org_id } = orgCaller(context);
  return context.transaction(async (context) => {
    if ((await lockOrg(context.db, org_id)) === null) throw notFound();
    const versions = await listVersions(context.db, given.kind);
    if (versions.length === 0) throw notFound();
    const open = acceptableVersions(versions, context.now());
    const version = open.find((one) => one.version === given.version);
    if (version === undefined)
      throw new ServiceError('version_mismatch', 'This version is not one that can be accepted now.', {
        param: 'version',
        details: { versions: open.map((one) => one.version) },
      });
    return acceptOnce(context, { org_id, version, signing: given });
  });
}

/** Accepts what is in force of `kinds`, in the transaction that makes the organization or for one of the demonstration. */
export function acceptInForce(
  context: Context,
  args: { org_id: Id<'org'>; kinds: readonly DocumentKind[]; signing?: Signing },
): Promise<void> {
  return context.transaction(async (context) => {
    for (const kind of args.kinds) {
      const [version] = acceptableVersions(await listVersions(context.db, kind), context.now());
      if (version === undefined) continue;
      await acceptOnce(context, { org_id: args.org_id, version, signing: args.signing ?? {} });
    }
  });
}

/** Who accepts, for the command line that shows it. */
export function acceptedBy({ user_email, key_id, user_id }: Acceptance): string | null {
  return user_email ?? user_id ?? key_id;
}
