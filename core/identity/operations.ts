// All operations of sign-in, sessions and members.
import { accessOperations } from './access/operations.ts';
import {
  changePasswordOperation,
  confirmTotpOperation,
  disableTotpOperation,
  enrolTotpOperation,
  recoveryCodesOperation,
} from './account-operations.ts';
import { admissionOperations } from './admission/operations.ts';
import { listAuditOperation } from './audit/list.ts';
import { openLookOperation } from './looks/operations.ts';
import { memberOperations } from './members/operations.ts';
import { createOrgOperation, transferOrgOperation } from './org-create.ts';
import { endOrgSessionOperation, listOrgSessionsOperation, listOrgsOperation } from './org-operations.ts';
import { updateMeOperation } from './profile/operations.ts';
import {
  createScimTokenOperation,
  deleteScimTokenOperation,
  listScimLogOperation,
} from './scim/operations.ts';
import {
  endSessionOperation,
  enterOrgOperation,
  getSessionOperation,
  listSessionsOperation,
  loginOperation,
  loginTotpOperation,
  logoutAllOperation,
  logoutOperation,
  reauthenticateOperation,
} from './sign-in/operations.ts';
import { signUpOperations } from './sign-up/operations.ts';
import {
  deleteSsoOperation,
  discoverSsoOperation,
  getSsoOperation,
  putSsoOperation,
} from './sso/connections.ts';
import { addDomainOperation, removeDomainOperation, verifyDomainOperation } from './sso/domains.ts';
import {
  staffLoginOperation,
  staffLogoutOperation,
  staffSessionOperation,
  staffTotpOperation,
} from './staff-operations.ts';

export const identityOperations = [
  ...signUpOperations,
  ...accessOperations,
  ...admissionOperations,
  loginOperation,
  loginTotpOperation,
  logoutOperation,
  logoutAllOperation,
  getSessionOperation,
  openLookOperation,
  enterOrgOperation,
  reauthenticateOperation,
  listSessionsOperation,
  endSessionOperation,
  changePasswordOperation,
  enrolTotpOperation,
  confirmTotpOperation,
  disableTotpOperation,
  recoveryCodesOperation,
  updateMeOperation,
  listOrgsOperation,
  createOrgOperation,
  transferOrgOperation,
  ...memberOperations,
  listAuditOperation,
  listOrgSessionsOperation,
  endOrgSessionOperation,
  discoverSsoOperation,
  getSsoOperation,
  putSsoOperation,
  deleteSsoOperation,
  addDomainOperation,
  removeDomainOperation,
  verifyDomainOperation,
  createScimTokenOperation,
  deleteScimTokenOperation,
  listScimLogOperation,
] as const;

/** Bound by the staff listener alone. */
export const staffListenerOperations = [
  staffLoginOperation,
  staffTotpOperation,
  staffLogoutOperation,
  staffSessionOperation,
] as const;
