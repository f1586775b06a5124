export { approveAccess, declineAccess } from './access/access.ts';
export {
  AccessRequestView,
  accessStates,
  approveAccessOperation,
  declineAccessOperation,
  listAccessOperation,
  staffAccessOperations,
} from './access/staff.ts';
export { listWaitingAccess } from './access/store.ts';
export {
  DAYS_MAX as INVITE_DAYS_MAX,
  makeInviteCode,
  revokeInviteCode,
  USES_MAX as INVITE_USES_MAX,
} from './admission/invite-code.ts';
export {
  changeNewOrgLimits,
  getNewOrgLimitsOperation,
  NewOrgLimitsView,
  setNewOrgLimitsOperation,
} from './admission/new-orgs.ts';
export { joinWaitlistOperation, signUpStateOperation } from './admission/operations.ts';
export {
  codeExample,
  codeStates,
  InviteCodeView,
  SignUpView,
  viewCode,
  viewWaiting,
  WaitingView,
  WaitlistEntryView,
  waitlistStates,
} from './admission/schema.ts';
export {
  createInviteCodeOperation,
  inviteFromWaitlistOperation,
  listInviteCodesOperation,
  listWaitlistOperation,
  revokeInviteCodeOperation,
  staffAdmissionOperations,
} from './admission/staff.ts';
export { listCodes, listWaitingEntries } from './admission/store.ts';
export { inviteFromWaitlist } from './admission/waitlist.ts';
export { type ActRow, listActs } from './audit/acts-store.ts';
export { actorOf, changesOf, verifyAudit, writeAudit } from './audit/audit.ts';
export { AuditEntryView, actorKinds, auditCsv, listAuditOperation, viewEntry } from './audit/list.ts';
export { type LogFilter, readLog } from './audit/log-store.ts';
export { redactAudit } from './audit/redact.ts';
export type { AuditRow } from './audit/store.ts';
export type { FoundingParents } from './founding-parent.ts';
export type { FoundingTerms } from './founding-terms.ts';
export { beginLookOperation } from './looks/operations.ts';
export { findBillingMailboxes, findMailboxes } from './mailboxes.ts';
export { inviteFirstOwner } from './members/invite.ts';
export type { MemberKeys } from './members/member-keys.ts';
export {
  inviteOperation,
  listInvitationsOperation,
  listMembersOperation,
  removeMemberOperation,
  resendInvitationOperation,
  revokeInvitationOperation,
  updateMemberOperation,
} from './members/operations.ts';
export { grantsOf } from './members/rights.ts';
export { InvitationView, invitationStates } from './members/schema.ts';
export { revokeAllInvitations } from './members/store.ts';
export { identityOperations, staffListenerOperations } from './operations.ts';
export { createOrgOperation, transferOrgOperation } from './org-create.ts';
export { endOrgSessionOperation, listOrgSessionsOperation, listOrgsOperation } from './org-operations.ts';
export { createPerson, createStaff, resetPassword } from './people.ts';
export { purgeAudit, purgeSignIn } from './purge.ts';
export { takeSamlAnswer } from './saml/answer.ts';
export { refreshMetadata } from './saml/refresh.ts';
export { describeServiceProvider } from './saml/service-provider.ts';
export {
  EmailIn,
  MemberView,
  memberRoles,
  memberSources,
  memberStates,
  SessionView,
  signInMethods,
} from './schema.ts';
export { listDirectory } from './scim/contents.ts';
export { faultBody, ScimFault } from './scim/fault.ts';
export { answerScim } from './scim/handle.ts';
export {
  createScimTokenOperation,
  deleteScimTokenOperation,
  listScimLogOperation,
  ScimLogView,
} from './scim/operations.ts';
export { verifyScimToken } from './scim/token.ts';
export { ScimTokenView } from './scim/token-schema.ts';
export { type Seller, type SellerHosts, sellerOf } from './seller.ts';
export { addressPrefix, clientAddress, isInNetworks, isNetwork } from './sessions/network.ts';
export { endOrgSessions } from './sessions/store.ts';
export {
  checkCsrf,
  clearedCookie,
  cookiePolicy,
  csrfOf,
  csrfToken,
  hasTokenForm,
  readCookie,
  SESSION_PREFIX,
  sessionCookie,
} from './sessions/token.ts';
export { type SignInSettings, signInSettings } from './settings.ts';
export { refuseUnproved } from './sign-in/proof.ts';
export { totpCode } from './sign-in/totp.ts';
export { deleteSsoOperation, getSsoOperation, putSsoOperation } from './sso/connections.ts';
export { domainKey } from './sso/domain-name.ts';
export {
  addDomainOperation,
  removeDomainOperation,
  verifyDomainOperation,
} from './sso/domains.ts';
export { signOutByProvider } from './sso/logout.ts';
export { recheckDomains } from './sso/recheck.ts';
export { mappedRoles } from './sso/roles.ts';
export { connectionStates, SsoConnectionView, SsoDomainView, SsoView, ssoKinds } from './sso/schema.ts';
export { consoleOf, finishSignOn, isAdminOfAlias, startSignOn } from './sso/sign-on.ts';
export { findPeople } from './store.ts';
export type { Person } from './types.ts';
export { verifySession, verifyStaff } from './verify.ts';
