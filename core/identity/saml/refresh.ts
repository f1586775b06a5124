// The descriptions of SAML providers, fetched anew every day, so that a provider changes its certificate without anybody
// here doing anything. A fetch that brings nothing changes nothing: what was in force stays.
import type { Egress } from '../../egress/index.ts';
import { type Context, canonicalJson } from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { NOBODY } from '../sign-in/sign-in.ts';
import { listDueMetadata, noteMetadata } from '../sso/connection-store.ts';
import { SsoFault } from '../sso/fault.ts';
import type { SamlConnection, SamlFacts } from '../sso/types.ts';
import { fetchMetadata } from './metadata.ts';

const DAY_MS = 86_400_000;
const AT_ONCE = 20;

/** What the description says now, or why it is of no use. Another provider at the same address is none. */
async function look(
  { now }: Context,
  egress: Egress,
  { config, metadata }: SamlConnection,
): Promise<SamlFacts | SsoFault> {
  try {
    // Plain http stays what an installation allowed when the connection was made.
    const plain = metadata.sso_url.startsWith('http:');
    const found = await fetchMetadata(egress, { url: config.metadata_url ?? '', at: now(), plain });
    return found.entity_id === metadata.entity_id ? found : new SsoFault('entity_unknown');
  } catch (error) {
    if (error instanceof SsoFault) return error;
    throw error;
  }
}

async function refresh(context: Context, egress: Egress, connection: SamlConnection): Promise<void> {
  const { org_id, updated_at, metadata: before } = connection;
  const found = await look(context, egress, connection);
  const is_new = !(found instanceof SsoFault) && canonicalJson({ ...found }) !== canonicalJson({ ...before });
  await context.transaction(async (context) => {
    const is_noted = await noteMetadata(context.db, {
      ...{ org_id, updated_at, at: context.now() },
      metadata: found instanceof SsoFault ? null : found,
      fault: found instanceof SsoFault ? found.reason : null,
    });
    if (!is_noted || !is_new) return;
    await writeAudit(context, {
      ...{ action: 'sso.metadata', org_id, target: { type: 'sso', id: org_id }, actor: NOBODY },
      ...{ before: { ...before }, after: { ...found } },
      reason: 'the description of the identity provider changed',
    });
  });
}

/** Fetches descriptions that were not fetched for a day, some at a time; returns how many. A job. */
export async function refreshMetadata(context: Context, egress: Egress): Promise<number> {
  const before = new Date(context.now().getTime() - DAY_MS);
  const due = await listDueMetadata(context.db, { before, limit: AT_ONCE });
  for (const connection of due) if (connection.kind === 'saml') await refresh(context, egress, connection);
  return due.length;
}
