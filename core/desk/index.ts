export {
  deskOperations,
  listStaffActsOperation,
  listStaffDocumentsOperation,
  listStaffItemsOperation,
  listStaffTopupsOperation,
  resolveItemOperation,
} from './operations.ts';
export { ActView, DocumentView, ItemView } from './schema.ts';
