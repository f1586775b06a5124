export { emailKey, getEmailKey, isSamePerson } from './address.ts';
export { readBounce, takeBounce } from './bounce.ts';
export { type MailOutcome, type MailParts, sendDue } from './deliver.ts';
export { purgeMails } from './purge.ts';
export { render, type Surroundings } from './render.ts';
export { sendMail } from './send.ts';
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
