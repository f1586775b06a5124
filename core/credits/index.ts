export { creditOperations } from './operations.ts';
