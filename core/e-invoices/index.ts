export { registerAgain } from './again.ts';
export { demoApart, openPortal, type Portal, PortalError } from './portal.ts';
export {
  abandonRegistration,
  drawRegistered,
  type RegistrationProgress,
  readRegistration,
  registerDocument,
} from './register.ts';
