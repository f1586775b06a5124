// Whom mails to customers of a reseller come from.

import { senderStates } from '@svc/core/mail/index.ts';
import {
  deleteMailSenderOperation,
  getMailSenderOperation,
  MailSenderRecordView,
  MailSenderView,
  setMailSenderOperation,
  verifyMailSenderOperation,
} from '@svc/core/resellers/index.ts';
import { builder, derive } from '../../builder.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { Reseller } from './reseller.ts';

derive.enum('MailSenderStatus', senderStates);
derive.enum('MailSenderRecordType', ['TXT', 'CNAME']);
const Record = derive.output('MailSenderRecord', MailSenderRecordView);

interface Records {
  readonly dkim: never;
  readonly return_path: never;
}
const Sender = derive.output('MailSender', MailSenderView, {
  omit: ['dkim', 'return_path'],
  extra: (t) => ({
    dkim: t.field({ type: Record, resolve: ({ dkim }: Records) => dkim }),
    returnPath: t.field({ type: Record, resolve: ({ return_path }: Records) => return_path }),
  }),
});

builder.objectFields(Reseller, (t) => ({
  mail: t.field({
    type: Sender,
    nullable: true,
    description: 'Whom mails to customers come from; null: the address of the service.',
    extensions: { operation: getMailSenderOperation.name },
    resolve: (_root, _args, { runner }) => nullWhenMissing(runner.run(getMailSenderOperation, {})),
  }),
}));

type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const mail = (t: Fields) => ({
  mail: t.field({
    type: Sender,
    resolve: ({ answer }: { readonly answer: unknown }) => answer as never,
  }),
});

mutation({
  name: 'setResellerMail',
  operation: setMailSenderOperation,
  input: setMailSenderOperation.input,
  description: 'Says whom mails to customers come from; a new key is made each time.',
  payload: mail,
});

mutation({
  name: 'verifyResellerMail',
  operation: verifyMailSenderOperation,
  input: verifyMailSenderOperation.input,
  description: 'Looks for the records of the sender; with both of them mails come from it.',
  payload: mail,
});

mutation({
  name: 'deleteResellerMail',
  operation: deleteMailSenderOperation,
  input: deleteMailSenderOperation.input,
  description: 'Deletes the sender with its key.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
