// The product with one place of it wrong, as test/mutations has it, for the simulation to notice.
import { registerHooks } from 'node:module';
import type { PGlite } from '@electric-sql/pglite';
import { MUTATIONS } from '../../mutations/ledger/mutations.ts';
import { mutations } from '../../mutations/product/mutations.ts';

export interface Broken {
  readonly name: string;
  /** Breaks the ledger. */
  readonly apply: (ledger: PGlite) => Promise<void>;
  /** What a dead process leaves on its disk goes with it. */
  readonly loses_journals: boolean;
}

interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

async function replaceIn(ledger: PGlite, name: string, from: string, to: string): Promise<void> {
  const { rows } = await ledger.query<{ source: string }>(
    `select pg_get_functiondef(oid) as source from pg_proc where pronamespace = 'ledger'::regnamespace and proname = $1`,
    [name],
  );
  // White space does not count, so that the mutations survive reformatting.
  const words = from.split(/\s+/).map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(words.join('\\s+'), 'g');
  const source = rows[0]?.source ?? '';
  if ([...source.matchAll(pattern)].length !== 1) throw new Error(`${name} does not hold this once: ${from}`);
  await ledger.exec(source.replace(pattern, () => to));
}

/** Changes the sources as they are loaded; nothing of the product may be loaded yet. */
function edit({ file, from, to }: Edit): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/${file}`)) return loaded;
      const source = String(loaded.source);
      if (source.split(from).length !== 2) throw new Error(`${file} does not hold this once: ${from}`);
      return { ...loaded, source: source.replace(from, () => to) };
    },
  });
}

/** Of the ledger, and noticed here alone: the model of the ledger's own tests has no claims. */
const OF_CLAIMS = [
  {
    name: 'a settle whose hold is gone does not look at its key',
    function: 'settle_run',
    from: 'when u.id = any (p_claimed) and c.is_ours is null',
    to: 'when false',
    without: undefined,
  },
] as const;
/** Of debits after a notice, which the crash test does not make. */
const OF_NOTICES: readonly { readonly name: string; readonly edit: Edit }[] = [
  {
    name: 'the notice of any order makes a debit due',
    edit: {
      file: 'core/mandates/announce.ts',
      from: 'if ((topup.gateway_ref ?? gateway_ref) !== gateway_ref) return;',
      to: '',
    },
  },
  {
    name: 'a debit is due a day after its notice was asked for',
    edit: {
      file: 'core/mandates/announce.ts',
      from: 'const is_due = !waits && attempt.notified_at === null;',
      to: 'const is_due = attempt.notified_at === null;',
    },
  },
  {
    name: 'a debit is due with the delivery of its notice',
    edit: {
      file: 'core/mandates/announce.ts',
      from: 'const due_at = new Date(at.getTime() + mandate.notify_hours * HOUR_MS + more_ms);',
      to: 'const due_at = at;',
    },
  },
];
const LEDGER_MUTATIONS = [...MUTATIONS.filter(({ caught_by }) => caught_by === 'model'), ...OF_CLAIMS];

/**
 * Names of the mutations that can be noticed here, with the folder that they are from. Two take a lock away and pause where it
 * was: on a server with one session nobody comes meanwhile, and the pause would never end.
 */
export const brokenNames: readonly string[] = [
  ...LEDGER_MUTATIONS.map(({ name }) => `ledger: ${name}`),
  ...mutations.map(({ name }) => `product: ${name}`),
  ...OF_NOTICES.map(({ name }) => `mandates: ${name}`),
];

/** The mutation called `name`. Its edits of sources count from now on. @throws Error when there is none. */
export function breakBy(name: string): Broken {
  const ofLedger = LEDGER_MUTATIONS.find((one) => `ledger: ${one.name}` === name);
  if (ofLedger !== undefined) {
    const { function: of, from, to, without } = ofLedger;
    const apply = async (ledger: PGlite) => {
      await replaceIn(ledger, of, from, to);
      if (without !== undefined) await ledger.exec(without);
    };
    return { name, apply, loses_journals: false };
  }
  const ofNotices = OF_NOTICES.find((one) => `mandates: ${one.name}` === name);
  if (ofNotices !== undefined) {
    edit(ofNotices.edit);
    return { name, apply: async () => {}, loses_journals: false };
  }
  const ofProduct = mutations.find((one) => `product: ${one.name}` === name);
  if (ofProduct === undefined) throw new Error(`no mutation is called ${name}`);
  const { mutate = [], edit: edited, sabotage } = ofProduct.broken;
  if (edited !== undefined) edit(edited);
  const apply = async (ledger: PGlite) => {
    for (const statement of mutate) await ledger.exec(statement);
  };
  return { name, apply, loses_journals: sabotage !== undefined };
}

/** Whether it changes a function of the ledger alone, which can be put back. */
export function isOnlyFunction(name: string): boolean {
  return LEDGER_MUTATIONS.some((one) => `ledger: ${one.name}` === name && one.without === undefined);
}
