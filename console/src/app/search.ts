// The parameters that each page keeps in the address. A reader takes any input and returns only valid parameters;
// unknown and wrong ones are dropped. The router passes the raw parameters on together with the valid ones, so pages
// call the readers again. The address never holds a secret or the content of a call.

const statuses = ['ok', 'error', 'cancelled', 'rejected'] as const;
export type StatusWord = (typeof statuses)[number];
export const sinceWords = ['1h', '24h', '7d', '30d'] as const;
export type SinceWord = (typeof sinceWords)[number];

export interface RequestsSearch {
  readonly status?: StatusWord;
  readonly model?: string;
  readonly key?: string;
  readonly moved?: true;
  readonly provider?: string;
  /** How far back, from the moment that the page was opened. */
  readonly since?: SinceWord;
  /** From this minute on, and before that one: "2026-11-19T18:30Z". With one of them `since` means nothing. */
  readonly from?: string;
  readonly to?: string;
  /** How the id begins. */
  readonly id?: string;
  /** What a caller said of a call; "" is nothing. Read by the page alone (`pages/requests/said.ts`). */
  readonly project?: string;
  readonly app?: string;
  readonly user?: string;
  readonly session?: string;
  readonly tag?: string;
  readonly tag_value?: string;
}
interface KeysSearch {
  /** The dialog that makes a key is open. */
  readonly create?: true;
}
const creditsViews = ['movements', 'lots', 'reconciliation', 'gifts', 'plan'] as const;
/** What the page of credits shows below the balance. */
export type CreditsView = (typeof creditsViews)[number];

interface CreditsSearch {
  /** Absent: the top-ups, in the sandbox the movements. */
  readonly view?: CreditsView;
  /** The panel that adds credits is open. */
  readonly add?: true;
  /** The top-up from which the rail's page has come back. */
  readonly topup?: string;
  /** `back`: the person left the rail's page without paying. */
  readonly outcome?: 'done' | 'back';
}

export const invoiceKindWords = ['tax_invoice', 'export_invoice', 'credit_note', 'receipt'] as const;
export type InvoiceKindWord = (typeof invoiceKindWords)[number];

interface InvoicesSearch {
  /** Documents of one kind alone. */
  readonly kind?: InvoiceKindWord;
}

interface PoliciesSearch {
  /** The dialog that makes a policy is open. */
  readonly create?: true;
}
interface PolicySearch {
  /** The version whose text is shown; absent: the active one, else the newest. */
  readonly version?: number;
}

export const deliveryStateWords = ['queued', 'delivering', 'delivered', 'failed', 'dropped'] as const;
type DeliveryStateWord = (typeof deliveryStateWords)[number];

export interface WebhookSearch {
  /** Deliveries in one state alone. */
  readonly state?: DeliveryStateWord;
  /** Deliveries of one event alone. */
  readonly event?: string;
}

interface EvalSuiteSearch {
  /** The revision whose cases are shown; absent: the present one. */
  readonly revision?: number;
  /** The dialog that starts a run is open. */
  readonly run?: true;
}
export interface EvalRunSearch {
  /** Results that passed, or did not. */
  readonly passed?: 'yes' | 'no';
  /** Results of one target, by its place. */
  readonly target?: number;
  /** The run that this one is compared with; absent: its own targets are compared. */
  readonly with?: string;
  readonly from?: number;
  readonly to?: number;
}

type Raw = Readonly<Record<string, unknown>>;

/** `text` when it is one line of ids or names, at most 120 characters. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,120}$/.test(value) ? value : undefined;
}

function flag(value: unknown): true | undefined {
  return value === true || value === 'true' || value === 1 || value === '1' ? true : undefined;
}

/** A minute of UTC, "2026-11-19T18:30Z". */
export function minute(value: unknown): string | undefined {
  const written = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(value);
  return written && Number.isFinite(Date.parse(value)) ? value : undefined;
}

/** The beginning of a request id, in capitals as the API writes it. */
function idStart(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9A-HJKMNP-TV-Z]{1,26}$/i.test(value)
    ? value.toUpperCase()
    : undefined;
}

/** `object` without its undefined members, so that the address holds only what was chosen. */
export function chosen<T extends object>(object: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/**
 * Where to go after signing in. Only a path of this console, since otherwise a link could send people to another site.
 */
export function readSignInSearch(raw: Raw): { readonly next?: string } {
  const { next } = raw;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) && !/[\r\n\t]/.test(next) ? { next } : {};
}

export function readRequestsSearch(raw: Raw): RequestsSearch {
  const times = [minute(raw['from']), minute(raw['to'])];
  // Whichever way round they were chosen.
  const [from, to] = times.includes(undefined) ? times : times.toSorted();
  const custom = from !== undefined || to !== undefined;
  return chosen<RequestsSearch>({
    status: statuses.find((status) => status === raw['status']),
    model: word(raw['model']),
    key: word(raw['key']),
    moved: flag(raw['moved']),
    provider: word(raw['provider']),
    since: custom ? undefined : sinceWords.find((since) => since === raw['since']),
    from,
    to,
    id: idStart(raw['id']),
  });
}

export function readKeysSearch(raw: Raw): KeysSearch {
  return chosen<KeysSearch>({ create: flag(raw['create']) });
}

export function readCreditsSearch(raw: Raw): CreditsSearch {
  const topup = word(raw['topup']);
  return chosen<CreditsSearch>({
    view: creditsViews.find((view) => view === raw['view']),
    add: flag(raw['add']),
    topup: topup !== undefined && /^tup_[0-9A-HJKMNP-TV-Z]{26}$/.test(topup) ? topup : undefined,
    outcome: raw['outcome'] === 'done' || raw['outcome'] === 'back' ? raw['outcome'] : undefined,
  });
}

export function readInvoicesSearch(raw: Raw): InvoicesSearch {
  return chosen<InvoicesSearch>({ kind: invoiceKindWords.find((kind) => kind === raw['kind']) });
}

export function readPoliciesSearch(raw: Raw): PoliciesSearch {
  return chosen<PoliciesSearch>({ create: flag(raw['create']) });
}

export function readPolicySearch(raw: Raw): PolicySearch {
  const version = Number(raw['version']);
  return Number.isInteger(version) && version > 0 && version < 2 ** 31 ? { version } : {};
}

function place(value: unknown): number | undefined {
  const n = Number(value);
  return value !== '' && Number.isInteger(n) && n >= 0 && n < 20 ? n : undefined;
}

export function readWebhookSearch(raw: Raw): WebhookSearch {
  const event = word(raw['event']);
  return chosen<WebhookSearch>({
    state: deliveryStateWords.find((state) => state === raw['state']),
    event: event !== undefined && /^[a-z_]+(?:\.[a-z_]+)+$/.test(event) ? event : undefined,
  });
}

export function readEvalSuiteSearch(raw: Raw): EvalSuiteSearch {
  const revision = Number(raw['revision']);
  return chosen<EvalSuiteSearch>({
    revision: Number.isInteger(revision) && revision > 0 && revision < 2 ** 31 ? revision : undefined,
    run: flag(raw['run']),
  });
}

export function readEvalRunSearch(raw: Raw): EvalRunSearch {
  const other = word(raw['with']);
  return chosen<EvalRunSearch>({
    passed: raw['passed'] === 'yes' || raw['passed'] === 'no' ? raw['passed'] : undefined,
    target: place(raw['target'] ?? ''),
    with: other !== undefined && /^er_[0-9A-HJKMNP-TV-Z]{26}$/.test(other) ? other : undefined,
    from: place(raw['from'] ?? ''),
    to: place(raw['to'] ?? ''),
  });
}
