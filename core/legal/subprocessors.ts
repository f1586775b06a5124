// The list of sub-processors: what staff publish, and the providers of the catalog, which are on it by themselves.
import { actorOf, writeAudit } from '../identity/index.ts';
import { type Context, invalid, ServiceError } from '../kernel/index.ts';
import { checkVersionName, effectOf, NOTICE_DAYS } from './publish.ts';
import { insertList, listLists, lockPublishing } from './store.ts';
import type { ListChange, Subprocessor, SubprocessorList } from './types.ts';

/** The providers of the catalog as entries. They are asked for a person's call and get its content. */
export function catalogEntries({ services }: Pick<Context, 'services'>): Subprocessor[] {
  // The command line has no catalog; what it shows are the entries of staff.
  const providers = 'catalog' in services ? [...services.catalog().providers.values()] : [];
  return (
    providers
      // What has no address answers in this process and sends nothing anywhere.
      .filter(({ base_url }) => base_url !== '')
      .map(({ id, name, regions, data_policy }) => ({
        ...{ id, name, category: 'model provider' },
        location: regions.length === 0 ? 'not stated' : regions.join(', '),
        purpose: 'answers calls that are routed to it',
        ...{ trains: data_policy.trains, retention_days: data_policy.retention_days, zdr: data_policy.zdr },
        regions: [...regions],
      }))
      .sort((a, b) => a.id.localeCompare(b.id))
  );
}

/** `entries` with what the catalog says of its providers: those named there, and those that no entry names. */
export function withCatalog(
  entries: readonly Subprocessor[],
  catalog: readonly Subprocessor[],
): Subprocessor[] {
  const known = new Map(catalog.map((one) => [one.id, one]));
  const named = entries.map((entry) => {
    const provider = known.get(entry.id);
    if (provider === undefined) return entry;
    const { trains, retention_days, zdr, regions } = provider;
    return { ...entry, trains, retention_days, zdr, regions };
  });
  const taken = new Set(entries.map(({ id }) => id));
  return [...named, ...catalog.filter(({ id }) => !taken.has(id))];
}

/** What `next` changes of `before`. */
function changeBetween(before: readonly Subprocessor[], next: readonly Subprocessor[]): ListChange {
  const old = new Map(before.map((one) => [one.id, one]));
  const ids = new Set(next.map(({ id }) => id));
  const wire = ({ regions, ...rest }: Subprocessor) => JSON.stringify([Object.entries(rest).sort(), regions]);
  const changed = next.filter((one) => {
    const was = old.get(one.id);
    return was !== undefined && wire(was) !== wire(one);
  });
  return {
    added: next.filter(({ id }) => !old.has(id)).map(({ id }) => id),
    removed: before.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
    changed: changed.map(({ id }) => id),
  };
}

/** The list in force at `now`, and the next one that comes. */
export async function readLists(
  context: Context,
): Promise<{ current: SubprocessorList | null; pending: SubprocessorList | null }> {
  const lists = await listLists(context.db);
  const now = context.now().getTime();
  return {
    current: lists.findLast(({ effective_at }) => effective_at.getTime() <= now) ?? null,
    pending: lists.find(({ effective_at }) => effective_at.getTime() > now) ?? null,
  };
}

interface NewList {
  readonly version: string;
  readonly entries: readonly Subprocessor[];
  readonly notice_days?: number;
}

/**
 * Publishes a list that takes effect after its notice, which is 30 days or more. The first one takes effect at once.
 * @throws ServiceError invalid_request, already_exists.
 */
export async function publishList(context: Context, given: NewList): Promise<SubprocessorList> {
  const { version, entries, notice_days = NOTICE_DAYS } = given;
  checkVersionName(version);
  const ids = entries.map(({ id }) => id);
  const doubled = ids.findIndex((id, at) => ids.indexOf(id) !== at);
  if (doubled !== -1) throw invalid(`entries[${doubled}].id`, 'enum', 'Two entries have this id.');
  if (notice_days < NOTICE_DAYS)
    throw invalid('notice_days', 'range', `A change is published ${NOTICE_DAYS} days ahead or more.`);
  return context.transaction(async (context) => {
    const { db } = context;
    await lockPublishing(db);
    const last = (await listLists(db)).at(-1) ?? null;
    const at = context.now();
    // The list that a release begins with names nobody, so nobody relies on it.
    const is_first = last === null || (last.published_by === 'release' && last.entries.length === 0);
    const change = changeBetween(last?.entries ?? [], entries);
    const effective_at = effectOf(undefined, {
      ...{ now: at, is_first: false, notice_days: is_first ? 0 : notice_days },
      last: null,
    });
    if (last !== null && effective_at.getTime() <= last.effective_at.getTime())
      throw new ServiceError(
        'state_conflict',
        'A list that comes later than this one is published already.',
        {
          details: { state: 'pending', version: last.version },
        },
      );
    const made: SubprocessorList = {
      ...{ version, entries, change, notice_days, published_at: at, effective_at },
      ...{ published_by: actorOf(context.caller).display, announced_through: '' },
    };
    if (!(await insertList(db, made)))
      throw new ServiceError('already_exists', 'There is a list of this version.', { param: 'version' });
    await writeAudit(context, {
      ...{ action: 'staff.legal.subprocessors.publish', org_id: null },
      target: { type: 'subprocessor_list', id: version },
      after: { ...change, effective_at: effective_at.toISOString() },
    });
    return made;
  });
}
