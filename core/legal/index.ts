export { acceptInForce } from './accept.ts';
export { foundingTerms } from './founding.ts';
export { blocksOf, type TextBlock } from './markdown.ts';
export {
  acceptLegalDocumentOperation,
  getLegalDocumentOperation,
  legalOperations,
  listAcceptancesOperation,
  listLegalDocumentsOperation,
  listSubprocessorsOperation,
} from './operations.ts';
export { readLegalPage } from './page.ts';
export { publishVersion } from './publish.ts';
export {
  AcceptanceView,
  LegalDocumentView,
  SubprocessorListView,
  SubprocessorView,
} from './schema.ts';
export { changeLegalSetting } from './setting.ts';
export { shippedTexts, takeShipped } from './shipped.ts';
export {
  getLegalSettingOperation,
  getStaffSubprocessorsOperation,
  LegalSettingView,
  LegalVersionView,
  listStaffLegalOperation,
  PublishedListView,
  publishLegalOperation,
  publishSubprocessorsOperation,
  StaffSubprocessorsView,
  setLegalOperation,
  staffLegalOperations,
} from './staff.ts';
export { findText, listVersions } from './store.ts';
export { publishList, readLists } from './subprocessors.ts';
export { tellOfLegal } from './tell.ts';
export { documentKinds, foundingKinds, type Subprocessor } from './types.ts';
