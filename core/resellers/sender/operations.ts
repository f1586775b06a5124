// Whom mails to people of a reseller's customers come from, over REST (docs/resellers/mail.md).
import { type Static, Type } from 'typebox';
import { egressOf } from '../../egress/index.ts';
import { domainKey, writeAudit } from '../../identity/index.ts';
import {
  type Context,
  invalid,
  lineOf,
  Nothing,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  ServiceError,
  Time,
} from '../../kernel/index.ts';
import {
  deleteSender,
  dkimRecord,
  findSender,
  type MailSender,
  makeSenderKey,
  putSender,
  returnRecord,
  senderStates,
} from '../../mail/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { holders, resellerCaller } from '../audience.ts';
import { lookFor, noteFound } from './look.ts';

const readers = holders('reseller.read');
const writers = holders('storefront.write');
/** Where no configuration says it (tests, tools): a name that never exists. */
const NO_HOST = 'bounce.svc.invalid';
const LOCAL = /^[a-z0-9]+(?:[._+-][a-z0-9]+)*$/;

export const MailSenderRecordView = named(
  'MailSenderRecord',
  Type.Object({
    type: oneOf(['TXT', 'CNAME'], 'MailSenderRecordType'),
    host: Type.String(),
    value: Type.String(),
    verified: Type.Boolean({ description: 'whether it was there at the last look' }),
  }),
);

export const MailSenderView = named(
  'MailSender',
  Type.Object({
    status: oneOf(senderStates, 'MailSenderStatus'),
    domain: Type.String(),
    from: Type.String(),
    dkim: MailSenderRecordView,
    return_path: MailSenderRecordView,
    checked_at: nullable(Time),
  }),
);
type MailSenderView = Static<typeof MailSenderView>;

const example: MailSenderView = {
  ...{ status: 'pending', domain: 'northwind.example', from: 'billing@northwind.example' },
  dkim: {
    ...{ type: 'TXT', host: 'svc1._domainkey.northwind.example', verified: false },
    value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A',
  },
  return_path: {
    ...{ type: 'CNAME', host: 'bounce.northwind.example', value: 'bounce.svc.example', verified: false },
  },
  checked_at: null,
};

function viewSender(sender: MailSender): MailSenderView {
  const { status, domain, from_local, dkim_found, return_found, checked_at } = sender;
  return {
    ...{ status, domain, from: `${from_local}@${domain}` },
    dkim: { ...dkimRecord(sender), verified: dkim_found },
    return_path: { ...returnRecord(sender), verified: return_found },
    checked_at: checked_at?.toISOString() ?? null,
  };
}

/** The sender of the caller's reseller. @throws ServiceError not_found. */
async function getSender(context: Context): Promise<MailSender> {
  const found = await findSender(context.db, resellerCaller(context).org_id);
  if (found === null) throw notFound();
  return found;
}

const targetOf = ({ domain }: Pick<MailSender, 'domain'>) => ({ type: 'mail_sender', id: domain });

/** @throws ServiceError invalid_request for what cannot stand before or behind the @. */
function addressOf(input: { domain: string; from_local: string }): { domain: string; from_local: string } {
  const domain = domainKey(input.domain);
  if (domain === null) throw invalid('domain', 'format', 'This is no domain that mails can come from.');
  const from_local = input.from_local.toLowerCase();
  if (!LOCAL.test(from_local))
    throw invalid(
      'from_local',
      'format',
      'Before the @ stand letters, digits and single . _ + - between them.',
    );
  return { domain, from_local };
}

export const getMailSenderOperation = operation({
  name: 'reseller.mail.get',
  method: 'GET',
  path: '/v1/reseller/storefront/mail',
  summary: 'Read whom mails to customers of the reseller come from, and the records it publishes',
  audience: readers,
  input: Type.Object({}),
  output: MailSenderView,
  errors: ['grant_required'],
  example,
  run: async (context) => viewSender(await getSender(context)),
});

export const setMailSenderOperation = operation({
  name: 'reseller.mail.set',
  method: 'PUT',
  path: '/v1/reseller/storefront/mail',
  summary: 'Say whom mails to customers come from; a new key is made each time',
  audience: writers,
  input: Type.Object({ domain: lineOf(253), from_local: lineOf(64) }),
  output: MailSenderView,
  errors: ['grant_required', 'csrf_failed'],
  // The key is made before the transaction, because that takes longer than a lock may.
  own_transactions: true,
  request: { domain: 'northwind.example', from_local: 'billing' },
  example,
  async run(context, input) {
    const { org_id } = resellerCaller(context);
    const { root_key, mail_return_host: return_host = NO_HOST } = context.services;
    const address = addressOf(input);
    const key = await makeSenderKey(root_key, org_id);
    return context.transaction(async (context) => {
      await lockOrg(context.db, org_id);
      const before = await findSender(context.db, org_id);
      const made = { org_id, ...address, ...key, return_host, created_at: context.now() };
      await putSender(context.db, made);
      const shown = ({ domain, from_local }: Pick<MailSender, 'domain' | 'from_local'>) => ({
        ...{ domain, from_local },
      });
      await writeAudit(context, {
        ...{ action: 'reseller.mail.set', org_id, target: targetOf(made) },
        ...(before === null ? {} : { before: shown(before) }),
        after: shown(made),
      });
      return viewSender(await getSender(context));
    });
  },
});

export const deleteMailSenderOperation = operation({
  name: 'reseller.mail.delete',
  method: 'DELETE',
  path: '/v1/reseller/storefront/mail',
  summary: 'Delete the sender with its key; mails come from the address of the service',
  audience: writers,
  input: Type.Object({}),
  output: Nothing,
  errors: ['grant_required', 'csrf_failed'],
  status: 204,
  example: {},
  run: (context) =>
    context.transaction(async (context) => {
      const { org_id } = resellerCaller(context);
      await lockOrg(context.db, org_id);
      const gone = await getSender(context);
      await deleteSender(context.db, org_id);
      await writeAudit(context, { action: 'reseller.mail.delete', org_id, target: targetOf(gone) });
      return {};
    }),
});

export const verifyMailSenderOperation = operation({
  name: 'reseller.mail.verify',
  method: 'POST',
  path: '/v1/reseller/storefront/mail/verify',
  summary: 'Look for the records of the sender; with both of them mails come from it',
  audience: writers,
  input: Type.Object({}),
  output: MailSenderView,
  errors: ['grant_required', 'dns_unavailable', 'csrf_failed'],
  // Name servers are asked outside of any transaction.
  own_transactions: true,
  example: {
    ...{ ...example, status: 'verified', checked_at: '2026-11-21T10:00:00.000Z' },
    ...{ dkim: { ...example.dkim, verified: true }, return_path: { ...example.return_path, verified: true } },
  },
  async run(context) {
    const sender = await getSender(context);
    const found = await lookFor(egressOf(context.services), sender);
    if (found === null)
      throw new ServiceError(
        'dns_unavailable',
        'No name server answered for the domain. Try again in a minute.',
        { retry_after_ms: 60_000 },
      );
    return context.transaction(async (context) => {
      const after = await noteFound(context, sender, { found, is_daily: false });
      if (after !== null && after.status !== sender.status)
        await writeAudit(context, {
          ...{ action: 'reseller.mail.verify', org_id: sender.org_id, target: targetOf(sender) },
          ...{ before: { status: sender.status }, after: { status: after.status } },
        });
      return viewSender(await getSender(context));
    });
  },
});

export const mailSenderOperations = [
  getMailSenderOperation,
  setMailSenderOperation,
  deleteMailSenderOperation,
  verifyMailSenderOperation,
] as const;
