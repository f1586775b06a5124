export { privacyOperations } from './operations.ts';
