// Legal documents and sub-processors in the staff schema.
import {
  documentKinds,
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
} from '@svc/core/legal/index.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the versions, the setting and the lists, and the acts that change them. */
export function addLegal({ builder, derive, mutation }: Parts): void {
  derive.enum('LegalDocumentKind', documentKinds);
  const LegalVersion = derive.output('LegalVersion', LegalVersionView);
  const LegalSetting = derive.output('LegalSetting', LegalSettingView);
  const Subprocessors = derive.output('StaffSubprocessors', StaffSubprocessorsView);
  const Published = derive.output('PublishedSubprocessors', PublishedListView);
  builder.queryFields((t: Any) => ({
    legalVersions: t.field({
      type: [LegalVersion],
      nullable: true,
      description: 'All versions of legal documents, with how many have accepted each.',
      extensions: { operation: listStaffLegalOperation.name },
      resolve: async (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        (await runner.run(listStaffLegalOperation, {})).data,
    }),
    legalSetting: t.field({
      type: LegalSetting,
      nullable: true,
      description: 'What legal texts say of whoever runs this, and whether acceptances are insisted on.',
      extensions: { operation: getLegalSettingOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getLegalSettingOperation, {}),
    }),
    subprocessors: t.field({
      type: Subprocessors,
      nullable: true,
      description: 'The list of sub-processors as it was published, and providers that it does not name.',
      extensions: { operation: getStaffSubprocessorsOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getStaffSubprocessorsOperation, {}),
    }),
  }));
  mutation({
    name: 'publishLegalVersion',
    operation: publishLegalOperation,
    description: 'Publishes a version, at least 30 days before it takes effect.',
    payload: (t) => ({
      version: t.field({ type: LegalVersion, resolve: (answer: unknown) => answer }),
    }),
  });
  mutation({
    name: 'setLegal',
    operation: setLegalOperation,
    description: 'Sets what legal texts say of whoever runs this, and whether acceptances are insisted on.',
    payload: (t) => ({
      setting: t.field({ type: LegalSetting, resolve: (answer: unknown) => answer }),
    }),
  });
  mutation({
    name: 'publishSubprocessors',
    operation: publishSubprocessorsOperation,
    description: 'Publishes the next list of sub-processors, at least 30 days before it takes effect.',
    payload: (t) => ({
      list: t.field({ type: Published, resolve: (answer: unknown) => answer }),
    }),
  });
}
