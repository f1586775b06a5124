// The record of processing activities: what is done with personal data, for whom, how long it is kept. A table of the
// release; who gets data and how long an organization keeps content are filled in when it is read.
import type { OrgDataPolicy } from '../orgs/index.ts';
import type { Subprocessor } from './types.ts';

/** Technical and organizational measures, as the annexes list them. */
export const measures = [
  'Transport is encrypted (TLS) between callers, the service and providers.',
  'Secrets of customers (provider keys, webhook secrets, second factors) are sealed with AES-256-GCM under a key ring that can be rotated; passwords and tokens are stored as digests.',
  'Content of calls is not stored unless the customer switches logging on; redaction runs before storing.',
  'Organizations are kept apart in every statement and by row-level rights of the database role.',
  'Every change and every look of staff is an entry of an audit log whose entries are chained by hash.',
  'Money is kept in an append-only ledger that an independent reader recomputes.',
  'Sessions end by time and by idleness; organizations can ask for a second factor, single sign-on and networks.',
  'Backups are taken and their restoration is rehearsed by a test.',
] as const;

interface Activity {
  readonly activity: string;
  readonly role: 'processor' | 'fiduciary or controller';
  readonly people: string;
  readonly categories: string;
  readonly recipients: 'model providers' | 'other sub-processors' | 'none';
  /** What a reseller has of its customers: it is a recipient where the organization has one. */
  readonly reseller?: true;
  readonly retention: (policy: Pick<OrgDataPolicy, 'logging' | 'retention_days'>) => string;
}

const LAW = '8 years after the financial year, as the law asks';

const activities: readonly Activity[] = [
  {
    activity: 'Answering calls to models',
    role: 'processor',
    people: 'end users of the customer',
    categories: 'content of requests and answers',
    recipients: 'model providers',
    retention: () => 'for the length of the call',
  },
  {
    activity: 'Keeping content of calls on request of the customer',
    role: 'processor',
    people: 'end users of the customer',
    categories: 'content of requests and answers, redacted as the customer sets it',
    recipients: 'none',
    retention: ({ logging, retention_days }) =>
      logging === 'on' ? `${retention_days} days` : 'not kept: logging is off',
  },
  {
    activity: 'Records of calls and their cost',
    role: 'processor',
    people: 'end users of the customer',
    categories: 'a digest of the end-user id, network prefix, counts of tokens, cost',
    recipients: 'none',
    // Sums by customer, model and day.
    reseller: true,
    retention: () => '400 days, then daily sums alone; single attempts 90 days',
  },
  {
    activity: 'Accounts and sign-in of people',
    role: 'fiduciary or controller',
    people: 'members of the organization',
    categories: 'name, e-mail address, role, network prefix and browser of sessions',
    recipients: 'other sub-processors',
    retention: () => 'while the account exists; ended sessions and tokens 30 days',
  },
  {
    activity: 'Audit log',
    role: 'fiduciary or controller',
    people: 'members of the organization, staff',
    categories: 'who did what and when, network prefix, browser',
    recipients: 'none',
    retention: () => '730 days',
  },
  {
    activity: 'Payments, invoices and the ledger',
    role: 'fiduciary or controller',
    people: 'billing contacts',
    categories: 'name, address, tax number, references of payments; no card numbers',
    recipients: 'other sub-processors',
    reseller: true,
    retention: () => LAW,
  },
  {
    activity: 'Acceptance of terms',
    role: 'fiduciary or controller',
    people: 'whoever accepts for the organization',
    categories: 'name, title, e-mail address, network address, the text that was shown',
    recipients: 'none',
    retention: () => LAW,
  },
  {
    activity: 'Support',
    role: 'fiduciary or controller',
    people: 'members of the organization',
    categories: 'what they write in tickets',
    recipients: 'other sub-processors',
    reseller: true,
    retention: () => 'while the organization exists',
  },
  {
    activity: 'Webhooks and mails',
    role: 'fiduciary or controller',
    people: 'members of the organization',
    categories: 'e-mail address, what the event is about',
    recipients: 'other sub-processors',
    retention: () => '30 days after delivery',
  },
];

export const processingFields = [
  ...['activity', 'role', 'people', 'categories', 'recipients', 'transfers', 'retention', 'measures'],
] as const;

type ProcessingRow = Readonly<Record<(typeof processingFields)[number], string>>;

interface Recipients {
  /** Those on the list now. */
  readonly subprocessors: readonly Subprocessor[];
  /** The reseller of the organization; null: it has none. */
  readonly reseller: Subprocessor | null;
}

/** The record for an organization with `policy`, with who gets data now. */
export function processingRecord(
  policy: Pick<OrgDataPolicy, 'logging' | 'retention_days'>,
  { subprocessors, reseller }: Recipients,
): ProcessingRow[] {
  const given = (recipients: Activity['recipients']) => {
    if (recipients === 'none') return [];
    const to_models = recipients === 'model providers';
    return subprocessors.filter(({ category }) => (category === 'model provider') === to_models);
  };
  return activities.map(({ activity, role, people, categories, recipients, retention, ...more }) => {
    const sold = more.reseller === true && reseller !== null ? [reseller] : [];
    const to = [...sold, ...given(recipients)];
    const places = [...new Set(to.map(({ location }) => location))];
    return {
      ...{ activity, role, people, categories },
      recipients: to.map(({ name }) => name).join('; ') || 'none',
      transfers: places.join('; ') || 'none',
      retention: retention(policy),
      measures: 'the measures of the agreement on processing',
    };
  });
}
