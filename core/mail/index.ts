export { emailKey, getEmailKey, isSamePerson } from './address.ts';
export { readBounce, takeBounce } from './bounce.ts';
export { type MailOutcome, type MailParts, sendDue } from './deliver.ts';
export { purgeMails } from './purge.ts';
export { render, type Surroundings } from './render.ts';
export { sendMail } from './send.ts';
export { afterLook, dkimRecord, isNamePublished, isTextPublished, returnRecord } from './senders/records.ts';
export { findMailFrom, makeSenderKey, returnHostOf } from './senders/senders.ts';
export {
  deleteSender,
  findSender,
  listDueSenders,
  lockSender,
  noteLook,
  noteNoAnswer,
  putSender,
} from './senders/store.ts';
export { type Found, type MailSender, senderStates } from './senders/types.ts';
export {
  countMails,
  findMails,
  listRefused,
  listWaitingMails,
  lockMail,
  readDelivery,
  readMailBacklog,
  releaseAddress,
  requeueMail,
  type SentMail,
} from './store.ts';
export { type DataOf, findTemplate, type TemplateName, templates } from './templates/all.ts';
export { type MailTransport, openMailTransport } from './transport.ts';
