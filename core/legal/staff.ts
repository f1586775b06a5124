// What staff do about legal documents: publish versions and lists, and say who runs this.
import { type Static, Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import { type Context, lineOf, listOf, named, nullable, operation, Time, TimeIn } from '../kernel/index.ts';
import { documentUrl } from './address.ts';
import { missingValues } from './fill.ts';
import { publishVersion } from './publish.ts';
import {
  entryExample,
  KindIn,
  ListChangeView,
  SubprocessorListView,
  SubprocessorView,
  viewList,
  wireEntry,
} from './schema.ts';
import { changeLegalSetting, readLegalSetting, readPlatform } from './setting.ts';
import { countAcceptances, listVersions } from './store.ts';
import { catalogEntries, publishList, readLists } from './subprocessors.ts';
import type { LegalVersion, SubprocessorList } from './types.ts';

const staff = { kind: 'staff', roles: ['compliance'] } as const;

export const LegalVersionView = named(
  'LegalVersion',
  Type.Object({
    kind: KindIn,
    version: Type.String(),
    title: Type.String(),
    summary: Type.String(),
    url: Type.String(),
    requires_acceptance: Type.Boolean(),
    effective_at: Time,
    published_at: Time,
    published_by: Type.String({ description: 'who of staff; `release` for a template of a release' }),
    accepted: Type.Integer({ description: 'open organizations that have accepted it' }),
    telling: Type.Boolean({ description: 'customers are being told of it' }),
  }),
);
type LegalVersionView = Static<typeof LegalVersionView>;

function viewVersion(context: Context, made: LegalVersion, accepted: number): LegalVersionView {
  const { kind, version, title, summary, requires_acceptance, published_by, announced_through } = made;
  return {
    ...{ kind, version, title, summary, requires_acceptance, published_by, accepted },
    url: documentUrl(context, made),
    effective_at: made.effective_at.toISOString(),
    published_at: made.published_at.toISOString(),
    telling: announced_through !== null,
  };
}

const versionExample: LegalVersionView = {
  ...{ kind: 'tos', version: '2026-12-21', title: 'Terms of service', requires_acceptance: true },
  summary: 'A clearer section on refunds.',
  url: 'https://gateway.example.com/docs/legal/tos/2026-12-21',
  effective_at: '2027-01-20T00:00:00.000Z',
  published_at: '2026-12-21T00:00:00.000Z',
  ...{ published_by: 'ann@svc.example', accepted: 0, telling: true },
};

export const listStaffLegalOperation = operation({
  name: 'staff.legal.versions',
  method: 'GET',
  path: '/staff/legal/versions',
  summary: 'List all versions of legal documents, with how many have accepted each',
  audience: staff,
  input: Type.Object({}),
  output: listOf(LegalVersionView),
  errors: [],
  example: { object: 'list', data: [versionExample] },
  async run(context) {
    await writeAudit(context, { action: 'staff.legal.versions', org_id: null });
    const counts = await countAcceptances(context.db);
    const versions = await listVersions(context.db, null);
    const data = versions.map((made) => {
      const count = counts.find(({ kind, version }) => kind === made.kind && version === made.version);
      return viewVersion(context, made, count?.accepted ?? 0);
    });
    return { object: 'list' as const, data };
  },
});

export const publishLegalOperation = operation({
  name: 'staff.legal.publish',
  method: 'POST',
  path: '/staff/legal/versions',
  summary: 'Publish a version, at least 30 days before it takes effect',
  audience: staff,
  input: Type.Object({
    kind: KindIn,
    version: lineOf(20),
    title: lineOf(120),
    summary: Type.String({ minLength: 1, maxLength: 500, format: 'lines' }),
    requires_acceptance: Type.Boolean(),
    text: Type.String({ minLength: 1, maxLength: 200_000, format: 'lines' }),
    effective_at: Type.Optional(TimeIn),
  }),
  output: LegalVersionView,
  errors: ['already_exists'],
  example: versionExample,
  async run(context, { effective_at, ...given }) {
    const made = await publishVersion(context, {
      ...given,
      ...(effective_at === undefined ? {} : { effective_at: new Date(effective_at) }),
    });
    return viewVersion(context, made, 0);
  },
});

export const LegalSettingView = named(
  'LegalSetting',
  Type.Object({
    grievance_officer: nullable(Type.String()),
    dpo_email: nullable(Type.String()),
    enforced_at: nullable(Time),
    missing: Type.Array(Type.String({ description: 'what texts cannot say yet' })),
  }),
);

async function viewSetting(context: Context): Promise<Static<typeof LegalSettingView>> {
  const setting = await readLegalSetting(context.db);
  return { ...setting, missing: missingValues(await readPlatform(context.db)) };
}

const settingExample = {
  ...{ grievance_officer: 'Ann Rao, grievance@svc.example', dpo_email: 'privacy@svc.example' },
  ...{ enforced_at: '2026-11-21T10:00:00.000Z', missing: [] },
};

export const getLegalSettingOperation = operation({
  name: 'staff.legal.setting',
  method: 'GET',
  path: '/staff/legal/setting',
  summary: 'Show what legal texts say of whoever runs this, and whether acceptances are insisted on',
  audience: staff,
  input: Type.Object({}),
  output: LegalSettingView,
  errors: [],
  example: settingExample,
  async run(context) {
    await writeAudit(context, { action: 'staff.legal.setting', org_id: null });
    return viewSetting(context);
  },
});

export const setLegalOperation = operation({
  name: 'staff.legal.set',
  method: 'PATCH',
  path: '/staff/legal/setting',
  summary: 'Set what legal texts say of whoever runs this, and whether acceptances are insisted on',
  audience: staff,
  input: Type.Object({
    grievance_officer: Type.Optional(lineOf(200)),
    dpo_email: Type.Optional(lineOf(254)),
    enforced: Type.Optional(Type.Boolean()),
  }),
  output: LegalSettingView,
  errors: ['state_conflict'],
  example: settingExample,
  async run(context, change) {
    await changeLegalSetting(context, change);
    return viewSetting(context);
  },
});

export const StaffSubprocessorsView = named(
  'StaffSubprocessors',
  Type.Object({
    current: nullable(SubprocessorListView),
    unlisted: Type.Array(Type.String(), {
      description:
        'providers of the catalog that neither the list nor the next one names: nobody was told of them',
    }),
  }),
);
/** As input; GraphQL has other types for what goes in. */
const SubprocessorIn = Type.Object({ ...SubprocessorView.properties });
const staffListExample = { current: null, unlisted: ['openai'] };

async function viewForStaff(context: Context): Promise<Static<typeof StaffSubprocessorsView>> {
  const { current, pending } = await readLists(context);
  const named = new Set([...(current?.entries ?? []), ...(pending?.entries ?? [])].map(({ id }) => id));
  const unlisted = catalogEntries(context)
    .map(({ id }) => id)
    .filter((id) => !named.has(id));
  const own = current === null ? null : viewList(current, { entries: current.entries, pending });
  return { current: own, unlisted };
}

export const getStaffSubprocessorsOperation = operation({
  name: 'staff.legal.subprocessors',
  method: 'GET',
  path: '/staff/legal/subprocessors',
  summary: 'Show the list of sub-processors as it was published, and providers that it does not name',
  audience: staff,
  input: Type.Object({}),
  output: StaffSubprocessorsView,
  errors: [],
  example: staffListExample,
  async run(context) {
    await writeAudit(context, { action: 'staff.legal.subprocessors', org_id: null });
    return viewForStaff(context);
  },
});

export const PublishedListView = named(
  'PublishedSubprocessors',
  Type.Object({
    version: Type.String(),
    entries: Type.Array(SubprocessorView),
    published_at: Time,
    effective_at: Time,
    notice_days: Type.Integer(),
    change: ListChangeView,
  }),
);

function viewPublished(made: SubprocessorList): Static<typeof PublishedListView> {
  const { version, entries, change, notice_days } = made;
  return {
    ...{ version, entries: entries.map(wireEntry), notice_days },
    published_at: made.published_at.toISOString(),
    effective_at: made.effective_at.toISOString(),
    change: { added: [...change.added], removed: [...change.removed], changed: [...change.changed] },
  };
}

export const publishSubprocessorsOperation = operation({
  name: 'staff.legal.subprocessors.publish',
  method: 'POST',
  path: '/staff/legal/subprocessors',
  summary: 'Publish the next list of sub-processors, at least 30 days before it takes effect',
  audience: staff,
  input: Type.Object({
    version: lineOf(20),
    entries: Type.Array(SubprocessorIn, { maxItems: 100 }),
    notice_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 365 })),
  }),
  output: PublishedListView,
  errors: ['already_exists', 'state_conflict'],
  example: {
    ...{ version: '2026-12-01', entries: [entryExample], notice_days: 30 },
    published_at: '2026-12-01T00:00:00.000Z',
    effective_at: '2026-12-31T00:00:00.000Z',
    change: { added: ['example-cloud'], removed: [], changed: [] },
  },
  run: async (context, given) => viewPublished(await publishList(context, given)),
});

export const staffLegalOperations = [
  listStaffLegalOperation,
  publishLegalOperation,
  getLegalSettingOperation,
  setLegalOperation,
  getStaffSubprocessorsOperation,
  publishSubprocessorsOperation,
] as const;
