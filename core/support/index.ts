export { approveRequest, overrideLimits, refuseRequest } from './decide.ts';
export { listLimitRequestsOperation, requestLimitsOperation, supportOperations } from './operations.ts';
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
export { ticketStatuses } from './types.ts';
