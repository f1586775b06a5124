export { tellOfModels } from './tell.ts';
