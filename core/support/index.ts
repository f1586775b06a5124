export { listAnnouncements } from './announcement-store.ts';
export {
  AnnouncementView,
  announce,
  createAnnouncementOperation,
  endAnnouncement,
  endAnnouncementOperation,
  listAnnouncementsOperation,
  listStaffAnnouncementsOperation,
  StaffAnnouncementView,
} from './announcements.ts';
export { approveRequest, overrideLimits, refuseRequest } from './decide.ts';
export { listLimitRequestsOperation, requestLimitsOperation, supportOperations } from './operations.ts';
export {
  deleteResellerAnnouncement,
  insertResellerAnnouncement,
  listResellerAnnouncements,
  lockResellerAnnouncement,
  type ResellerAnnouncement,
  updateResellerAnnouncement,
} from './reseller-announcement-store.ts';
export { LimitsView, TicketView } from './schema.ts';
export {
  approveLimitsOperation,
  LimitRequestView,
  listStaffLimitRequestsOperation,
  overrideLimitsOperation,
  refuseLimitsOperation,
  staffSupportOperations,
} from './staff.ts';
export { listOpenLimitTickets } from './store.ts';
export {
  closeTicketOperation,
  createTicketOperation,
  getTicketOperation,
  listTicketsOperation,
  replyToTicketOperation,
} from './ticket-operations.ts';
export { AnyTicketView, Text, TicketThread, threadExample, viewThread } from './ticket-schema.ts';
export {
  answerTicketOperation,
  getStaffTicketOperation,
  listStaffTicketsOperation,
  StaffTicketView,
} from './ticket-staff.ts';
export { countWaiting, findTicket, listMessages, listOpenTickets, listTicketsOf } from './ticket-store.ts';
export { answerAsReseller, answerTicket, openTicketOf, readThread } from './tickets.ts';
export {
  announcementAudiences,
  announcementSeverities,
  ticketAuthors,
  ticketKinds,
  ticketSides,
  ticketStatuses,
} from './types.ts';
