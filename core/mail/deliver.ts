// Sending what is due: take under a lease, send, note what became of it. Any process may do it; the leader does.
import { readSetting } from '../db/index.ts';
import {
  type Db,
  type Id,
  isObject,
  type Log,
  newUlid,
  now,
  type RootKeyRing,
  secureUnit,
} from '../kernel/index.ts';
import { render, type Surroundings } from './render.ts';
import { openLink } from './send.ts';
import type { MailFrom } from './senders/types.ts';
import {
  countRecent,
  dropMail,
  endAttempt,
  findRefused,
  hasDue,
  leaseMails,
  limitMail,
  lockDue,
  noteRefused,
  type Recent,
} from './store.ts';
import { courtesies, findTemplate } from './templates/all.ts';
import type { MailTransport, Outgoing } from './transport.ts';
import type { Attachment, AttachmentRef, DueMail } from './types.ts';
import { judgeFailure, retryDelayMs, type SmtpAnswer } from './verdict.ts';

const DAY_MS = 24 * 3_600_000;
const BATCH = 8;
/** Most batches of one run, so that the leader can stop during a long backlog. */
const BATCHES_MAX = 50;
/** Sent at once by one process; a batch is sent well before its lease lapses. */
const AT_ONCE = 4;
/** Kept of what a server said. */
const ANSWER_MAX = 500;
/** Courtesies to one address in 24 hours; staff change it (setting `mail`). */
const PER_ADDRESS_DEFAULT = 20;

/** How an attempt ended, for metrics. `lost`: another process had taken the mail over. */
export type MailOutcome = 'sent' | 'queued' | 'failed' | 'dropped' | 'lost';

interface MailStore extends Db {
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

export interface MailParts {
  readonly store: MailStore;
  readonly transport: MailTransport;
  /** Where the links of a mail lead, and whose name it bears: ours, or a reseller's whose customer it is for. */
  readonly aroundOf: (db: Db, mail: DueMail) => Promise<Surroundings>;
  readonly root_key: RootKeyRing;
  readonly log: Log;
  /** The files that mails refer to. @throws Error when there is none. */
  readonly openAttachment: (db: Db, of: DueMail, ref: AttachmentRef) => Promise<Attachment>;
  /** Whom the mails of an organization come from; null: the service's own address. */
  readonly fromOf: (db: Db, org_id: Id<'org'>) => Promise<MailFrom | null>;
  /** Called in the transaction that notes that a mail has gone, or never will. */
  readonly onEnd: (db: Db, mail: DueMail, end: { has_gone: boolean; at: Date }) => Promise<void>;
  /** Attempts by outcome, for metrics. */
  readonly outcomes: Map<MailOutcome, number>;
}

function count(parts: MailParts, outcome: MailOutcome): void {
  parts.outcomes.set(outcome, (parts.outcomes.get(outcome) ?? 0) + 1);
}

async function readLimit(db: Db): Promise<number> {
  const set = await readSetting<{ per_address_day?: number }>(db, 'mail');
  return set?.per_address_day ?? PER_ADDRESS_DEFAULT;
}

/** What is to be done with a mail that is due: sent, put off, or dropped. */
type Plan =
  | { readonly do: 'send' }
  | { readonly do: 'wait'; readonly until: Date }
  | { readonly do: 'drop'; readonly why: string };

/** Decides for each of `mails` in turn, so that those before count for those after. */
function planMails(
  mails: readonly DueMail[],
  known: { at: Date; refused: ReadonlySet<string>; recent: readonly Recent[]; limit: number },
): Map<DueMail, Plan> {
  const { at, refused, limit } = known;
  const counts = new Map(known.recent.map(({ recipient_key, mails }) => [recipient_key, mails]));
  const oldest = new Map(known.recent.map(({ recipient_key, oldest_at }) => [recipient_key, oldest_at]));
  const plans = new Map<DueMail, Plan>();
  for (const mail of mails) {
    const { recipient_key: key, expires_at } = mail;
    const is_courtesy = findTemplate(mail.template)?.duty === 'courtesy';
    const before = counts.get(key) ?? 0;
    if (expires_at <= at) plans.set(mail, { do: 'drop', why: 'too late to be of use' });
    else if (refused.has(key)) plans.set(mail, { do: 'drop', why: 'the address refuses mail' });
    else if (is_courtesy && before >= limit) {
      const since = oldest.get(key) ?? at;
      plans.set(mail, { do: 'wait', until: new Date(since.getTime() + DAY_MS) });
    } else {
      if (is_courtesy) counts.set(key, before + 1);
      plans.set(mail, { do: 'send' });
    }
  }
  return plans;
}

interface Taken {
  readonly lease: string;
  readonly mails: readonly DueMail[];
  /** How many were due, whatever was decided. */
  readonly due: number;
}

/** Takes mails that are due under a lease; drops and puts off those that are not to be sent. */
function takeMails(parts: MailParts): Promise<Taken> {
  return parts.store.transaction(async (db) => {
    const at = now();
    const lease = newUlid();
    const due = await lockDue(db, { at, limit: BATCH });
    if (due.length === 0) return { lease, mails: [], due: 0 };
    const keys = [...new Set(due.map(({ recipient_key }) => recipient_key))];
    const except = due.map(({ id }) => id);
    const since = new Date(at.getTime() - DAY_MS);
    const recent = await countRecent(db, { keys, templates: courtesies, since, except });
    const refused = await findRefused(db, keys);
    const plans = planMails(due, { at, refused, recent, limit: await readLimit(db) });
    for (const [mail, plan] of plans) {
      const { id } = mail;
      if (plan.do === 'wait') await limitMail(db, { id, next_at: plan.until });
      if (plan.do !== 'drop') continue;
      await dropMail(db, { id, answer: plan.why });
      await parts.onEnd(db, mail, { has_gone: false, at });
      count(parts, 'dropped');
    }
    const mails = due.filter((mail) => plans.get(mail)?.do === 'send');
    await leaseMails(db, { ids: mails.map(({ id }) => id), lease });
    return { lease, mails, due: due.length };
  });
}

async function compose(parts: MailParts, mail: DueMail): Promise<Outgoing> {
  const template = findTemplate(mail.template);
  if (template === null) throw new Error(`this release has no template ${mail.template}`);
  const link = mail.sealed === null ? '' : openLink(parts.root_key, mail.id, mail.sealed);
  const around = await parts.aroundOf(parts.store, mail);
  const said = render(template.content(mail.data, link), around);
  const attachments: Attachment[] = [];
  for (const ref of mail.attachments) attachments.push(await parts.openAttachment(parts.store, mail, ref));
  const { id, org_id, template: name, reference, recipient, recipient_key, created_at } = mail;
  const from = org_id === null ? null : await parts.fromOf(parts.store, org_id);
  return {
    id,
    name: `${name}-${reference}`,
    to: recipient,
    to_key: recipient_key,
    date: created_at,
    from,
    ...said,
    ...(around.look === undefined ? {} : { from_name: around.product }),
    attachments,
  };
}

/** What a failure of sending says; null for one that no server and no network caused. */
function answerOf(error: unknown): SmtpAnswer | null {
  if (!isObject(error) && !(error instanceof Error)) return null;
  const { code, responseCode, command, response, message } = error as Record<string, unknown>;
  if (typeof code !== 'string') return null;
  const number = typeof responseCode === 'number' ? responseCode : 0;
  const said = typeof response === 'string' ? response : String(message);
  return { code: number, command: typeof command === 'string' ? command : '', text: said };
}

async function noteSent(
  parts: MailParts,
  mail: DueMail,
  lease: string,
  answer: string,
): Promise<MailOutcome> {
  return parts.store.transaction(async (db) => {
    const at = now();
    const { id } = mail;
    const was_ours = await endAttempt(db, {
      id,
      lease,
      status: 'sent',
      answer: cut(answer),
      at,
      next_at: null,
    });
    if (!was_ours) return 'lost';
    await parts.onEnd(db, mail, { has_gone: true, at });
    return 'sent';
  });
}

function cut(answer: string): string {
  return [...answer.replaceAll(/\p{Cc}+/gu, ' ')].slice(0, ANSWER_MAX).join('');
}

async function noteFailure(
  parts: MailParts,
  mail: DueMail,
  lease: string,
  error: unknown,
): Promise<MailOutcome> {
  const known = answerOf(error);
  const answer = cut(known?.text ?? 'it could not be composed');
  const { id, recipient_key, attempts } = mail;
  // A defect of a template or an attachment is logged and mended; the mail waits for it.
  if (known === null) parts.log.error({ error, mail: id, template: mail.template }, 'mail not composed');
  const verdict = known === null ? ({ kind: 'retry' } as const) : judgeFailure(known);
  return parts.store.transaction(async (db) => {
    const at = now();
    const status = verdict.kind === 'retry' ? 'queued' : 'failed';
    const next_at =
      status === 'queued' ? new Date(at.getTime() + retryDelayMs(attempts + 1, secureUnit())) : null;
    if (!(await endAttempt(db, { id, lease, status, answer, at, next_at }))) return 'lost';
    if (verdict.kind === 'failed' && verdict.address)
      await noteRefused(db, { recipient_key, mail_id: id, cause: 'refused', answer, at });
    if (status === 'failed') await parts.onEnd(db, mail, { has_gone: false, at });
    return status;
  });
}

async function attempt(parts: MailParts, mail: DueMail, lease: string): Promise<void> {
  let answer: string;
  try {
    answer = await parts.transport.send(await compose(parts, mail));
  } catch (error) {
    const outcome = await noteFailure(parts, mail, lease, error);
    // The address is a person's: logs name the mail.
    parts.log.warn({ mail: mail.id, template: mail.template, outcome }, 'mail not sent');
    count(parts, outcome);
    return;
  }
  // What fails from here on lets the lease lapse, and the mail goes once more under the same Message-ID.
  count(parts, await noteSent(parts, mail, lease, answer));
}

/**
 * Sends what is due and returns how many mails were dealt with. A job; two that run at once take different mails, and
 * one that dies loses none: its lease lapses after three minutes.
 */
export async function sendDue(parts: MailParts): Promise<number> {
  let dealt = 0;
  for (let batch = 0; batch < BATCHES_MAX && (await hasDue(parts.store, now())); batch++) {
    const { lease, mails, due } = await takeMails(parts);
    const waiting = [...mails];
    const work = async () => {
      for (let mail = waiting.shift(); mail !== undefined; mail = waiting.shift())
        await attempt(parts, mail, lease);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    dealt += due;
    if (due < BATCH) break;
  }
  return dealt;
}
