// What an organization sets for itself: what it is called, and the rules for its people. A merge patch.
import { type Static, Type } from 'typebox';
import { changesOf, isInNetworks, isNetwork, writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  invalid,
  isId,
  lineOf,
  named,
  notFound,
  nullable,
  oneOf,
  ServiceError,
} from '../kernel/index.ts';
import {
  departures,
  findMembership,
  findSettings,
  keepSlug,
  type OrgSecurity,
  putSettings,
  refuseReservedSlug,
  SlugIn,
  slugTaken,
} from '../orgs/index.ts';

const closed = { additionalProperties: false } as const;
const NETWORKS_MAX = 100;

const SecurityPatch = named(
  'SecurityPatch',
  Type.Object(
    {
      require_2fa: Type.Optional(nullable(Type.Boolean())),
      sso_counts_as_2fa: Type.Optional(
        nullable(
          Type.Boolean({ description: 'whether single sign-on counts as a second factor; default true' }),
        ),
      ),
      session_hours: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 720 }))),
      console_ip_allow: Type.Optional(
        nullable(
          Type.Array(lineOf(64), {
            maxItems: NETWORKS_MAX,
            description: 'addresses and networks that sessions may come from; empty: all',
          }),
        ),
      ),
      key_default_expiry_days: Type.Optional(
        nullable(Type.Integer({ minimum: 0, maximum: 730, description: '0: keys do not end by themselves' })),
      ),
      on_deprovision_keys: Type.Optional(nullable(oneOf(departures, 'OnDeprovisionKeys'))),
      transfer_keys_to: Type.Optional(
        nullable(Type.String({ maxLength: 64, description: 'an owner or admin, who gets the keys' })),
      ),
    },
    closed,
  ),
);

/** Members of a change of an organization, as they stand in its request. Null in `security` is the default. */
export const settingsMembers = {
  name: Type.Optional(lineOf(120)),
  slug: Type.Optional(SlugIn),
  settings: Type.Optional(Type.Object({ security: Type.Optional(nullable(SecurityPatch)) }, closed)),
  force: Type.Optional(
    Type.Boolean({ description: 'change `settings.security` also where it bars the caller' }),
  ),
};
const Change = Type.Object(settingsMembers);
type Change = Static<typeof Change>;

/** The members of `input` that are about settings; null when there is none. */
export function settingsChangeIn(input: object): Change | null {
  const own = Object.entries(input).filter(([name]) => Object.hasOwn(settingsMembers, name));
  return own.some(([name]) => name !== 'force') ? (Object.fromEntries(own) as Change) : null;
}

function mergeSecurity(now: OrgSecurity, patch: Static<typeof SecurityPatch> | null): OrgSecurity {
  if (patch === null) return {};
  const next = Object.entries({ ...now, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(next) as OrgSecurity;
}

/** @throws ServiceError invalid_request for what is no network. */
function checkNetworks({ console_ip_allow = [] }: OrgSecurity): void {
  const at = console_ip_allow.findIndex((network) => !isNetwork(network));
  if (at === -1) return;
  const param = `settings.security.console_ip_allow[${at}]`;
  throw invalid(param, 'format', 'This is neither an address nor a network such as 203.0.113.0/24.');
}

/** @throws ServiceError invalid_request where keys go to nobody who answers for the organization. */
async function checkHeir(context: Context, org_id: Id<'org'>, security: OrgSecurity): Promise<void> {
  const { on_deprovision_keys, transfer_keys_to = '' } = security;
  if (on_deprovision_keys !== 'transfer') return;
  const heir = isId('user', transfer_keys_to)
    ? await findMembership(context.db, { org_id, user_id: transfer_keys_to })
    : null;
  if (heir?.role === 'owner' || heir?.role === 'admin') return;
  throw invalid('settings.security.transfer_keys_to', 'unknown', 'Name an owner or admin who gets the keys.');
}

/** Whoever changes the rules must still be let in by them, or say that this is meant. */
function refuseLockout({ caller, client_ip }: Context, { console_ip_allow = [], require_2fa }: OrgSecurity) {
  if (caller.kind !== 'session') return;
  const is_inside = client_ip !== null && isInNetworks(client_ip, console_ip_allow);
  if (console_ip_allow.length > 0 && !is_inside) {
    const message = 'Your own address is in none of these networks. Send "force": true if this is meant.';
    throw invalid('settings.security.console_ip_allow', 'range', message);
  }
  if (require_2fa === true && !caller.two_factor) {
    const message = 'You have signed in without a second factor. Set one up first, or send "force": true.';
    throw new ServiceError('state_conflict', message, { param: 'settings.security.require_2fa' });
  }
}

/**
 * Applies `change` to an organization, which is locked, in the open transaction. The rules count from the next request
 * of every session.
 * @throws ServiceError not_found, already_exists (slug), invalid_request, state_conflict.
 */
export async function changeSettings(context: Context, org_id: Id<'org'>, change: Change): Promise<void> {
  const before = await findSettings(context.db, org_id);
  if (before === null) throw notFound();
  const patch = change.settings?.security;
  const security = patch === undefined ? before.security : mergeSecurity(before.security, patch);
  const { name = before.name, slug = before.slug, force = false } = change;
  const after = { name, slug, security };
  const changes = changesOf(before, after, ['name', 'slug', 'security']);
  if (Object.keys(changes.after).length === 0) return;
  checkNetworks(security);
  if (patch !== undefined) await checkHeir(context, org_id, security);
  if (patch !== undefined && !force) refuseLockout(context, security);
  if (slug !== before.slug) {
    refuseReservedSlug(slug);
    await keepSlug(context.db, slug);
  }
  // A slug is taken by any organization.
  const { db } = context.acrossOrgs;
  if (!(await putSettings(db, { org_id, settings: after, at: context.now() }))) throw slugTaken();
  const target = { type: 'org', id: org_id, display: slug };
  await writeAudit(context, { action: 'orgs.update', org_id, target, ...changes });
}
