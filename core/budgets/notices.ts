// Mails about budgets and the balance: made of the ledger's facts when these are relayed, so once per fact, which the
// ledger writes once per window.
import { findMailboxes } from '../identity/index.ts';
import { type Db, type Id, now } from '../kernel/index.ts';
import { findKeys, findSubjectOwner } from '../keys/index.ts';
import { type DataOf, sendMail, type TemplateName } from '../mail/index.ts';
import { findOrg, findProjectByNumber, type Org } from '../orgs/index.ts';
import { creditsText } from './amount.ts';

/** A fact as the ledger wrote it, and the id of its event, which stays the same when it is read again. */
interface LedgerFact {
  readonly event_id: Id<'event'>;
  readonly org_id: string;
  readonly topic: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Facts that are mailed. */
export const mailedTopics: ReadonlySet<string> = new Set([
  'budget.threshold',
  'budget.exhausted',
  'credits.low',
  'credits.exhausted',
]);

/** What the ledger says of a window. */
interface BudgetPayload {
  readonly scope: 'key' | 'project';
  readonly key_no?: number;
  readonly project_no?: number;
  readonly budget_micro: number;
  readonly spend_micro: number;
  readonly hard: boolean;
  readonly window_end: string;
  readonly threshold_percent?: number;
  readonly resumes_at?: string;
}

interface CreditPayload {
  readonly available_micro_usd: number;
  readonly threshold_micro: number;
}

/** Name of the key or project that a window belongs to; null where it is gone, or in the sandbox, whose money is play. */
async function nameOf(db: Db, org: Org, { key_no, project_no }: BudgetPayload): Promise<string | null> {
  if (key_no !== undefined) {
    const owner = await findSubjectOwner(db, { key_no });
    if (owner === null || owner.environment === 'test') return null;
    const [key] = await findKeys(db, { org_id: org.id, environment: 'live', ids: [owner.key_id] });
    return key?.name ?? null;
  }
  const project = project_no === undefined ? null : await findProjectByNumber(db, project_no);
  return project === null || project.live_no !== project_no ? null : project.name;
}

/** Owners, admins and billing get each mail once per fact. */
async function mailPeople<T extends TemplateName>(
  db: Db,
  { org, fact }: { org: Org; fact: LedgerFact },
  mail: { template: T; data: DataOf<T> },
): Promise<void> {
  const to = await findMailboxes(db, { org_id: org.id, roles: ['owner', 'admin', 'billing'] });
  await sendMail({ db, now }, { ...mail, to, org_id: org.id, reference: fact.event_id });
}

async function mailBudget(db: Db, org: Org, fact: LedgerFact): Promise<void> {
  const payload = fact.payload as unknown as BudgetPayload;
  const name = await nameOf(db, org, payload);
  if (name === null) return;
  const { scope, hard, window_end, threshold_percent, resumes_at } = payload;
  const [spend, budget] = [creditsText(payload.spend_micro), creditsText(payload.budget_micro)];
  const shown = { org: org.name, slug: org.slug, scope, name, spend, budget, hard };
  if (threshold_percent !== undefined) {
    const data = { ...shown, threshold_percent, window_end };
    await mailPeople(db, { org, fact }, { template: 'budget_threshold', data });
  } else {
    const data = { ...shown, resumes_at: resumes_at ?? null };
    await mailPeople(db, { org, fact }, { template: 'budget_exhausted', data });
  }
}

/** Nothing where the organization wants no word about its balance; the sandbox never has a threshold. */
async function mailCredits(db: Db, org: Org, fact: LedgerFact): Promise<void> {
  const { available_micro_usd, threshold_micro } = fact.payload as unknown as CreditPayload;
  if (threshold_micro === 0) return;
  const shown = { org: org.name, slug: org.slug, available: creditsText(available_micro_usd) };
  if (fact.topic === 'credits.exhausted') {
    await mailPeople(db, { org, fact }, { template: 'credits_exhausted', data: shown });
  } else {
    const data = { ...shown, threshold: creditsText(threshold_micro) };
    await mailPeople(db, { org, fact }, { template: 'low_balance', data });
  }
}

/** Asks for the mails that follow from `fact`, in the transaction of `db`; a fact that is read again asks for none. */
export async function mailFact(db: Db, fact: LedgerFact): Promise<void> {
  const org = await findOrg(db, fact.org_id);
  if (org === null) return;
  if (fact.topic.startsWith('budget.')) await mailBudget(db, org, fact);
  else await mailCredits(db, org, fact);
}
