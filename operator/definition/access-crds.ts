// The custom resource definitions of Project and ApiKey.
import { scopes } from '@svc/core/kernel/index.ts';
import { type AccessKind, accessConditions, plurals } from '../access/types.ts';
import { yamlText } from '../text.ts';
import { GROUP, VERSION } from '../types.ts';
import { column, conditionOf, connectionOf, observedGeneration, ready, type Schema, text } from './crd.ts';

const HOURS = '^([1-9][0-9]{0,3}|1[0-6][0-9]{3}|17[0-4][0-9]{2}|175[01][0-9]|17520)h$';
const SECRET_NAME = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$';
const environment = text('Live or test. It cannot be changed.', { enum: ['live', 'test'] });

function count(description: string, more: Schema = {}): Schema {
  return { type: 'integer', format: 'int64', minimum: 1, maximum: 2_147_483_647, description, ...more };
}
function micro(description: string): Schema {
  return count(description, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
}
function object(description: string, properties: Schema, required: readonly string[] = []): Schema {
  return { type: 'object', description, ...(required.length === 0 ? {} : { required }), properties };
}
/** Neither changed nor given or taken away later. */
function fixed(name: string): Schema {
  return {
    rule:
      `has(self.${name}) == has(oldSelf.${name}) && ` +
      `(!has(self.${name}) || self.${name} == oldSelf.${name})`,
    message: `${name} is immutable`,
  };
}
function budget(member: string, description: string): Schema {
  return object('What may be spent; unset: no budget.', {
    [member]: micro(description),
    hard: {
      ...{ type: 'boolean', default: true },
      description: 'Whether calls beyond the budget are refused; false: events are sent, and no more.',
    },
  });
}
function limits(description: string): Schema {
  return object(description, {
    rpm: count('Requests a minute.'),
    tpm: count('Tokens a minute.'),
    concurrency: count('Calls at once.'),
  });
}

const project: Schema = {
  ...object(
    'The project, and what happens to it when this object is deleted.',
    {
      connection: connectionOf('project', 'manage:keys'),
      slug: text('Name of the project in URLs and lists. It cannot be changed.', {
        pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
      }),
      displayName: text('Name for people; unset: the slug.', { minLength: 1, maxLength: 120 }),
      environment: { ...environment, default: 'live' },
      budget: budget('monthlyMicro', 'Micro-USD of a UTC month.'),
      limits: limits('Limits of all its keys together; unset: those of each key and of the plan alone.'),
      alerts: {
        ...{ type: 'array', maxItems: 10, 'x-kubernetes-list-type': 'set' },
        description: 'Percentages of the budget at which budget.threshold is sent; unset: 50, 80 and 100.',
        items: { type: 'integer', minimum: 1, maximum: 100 },
      },
      deletionPolicy: text('What happens to the project when this object is deleted.', {
        ...{ enum: ['Retain', 'Archive'], default: 'Retain' },
      }),
    },
    ['connection', 'slug'],
  ),
  'x-kubernetes-validations': [fixed('slug'), fixed('environment')],
};

const apiKey: Schema = {
  ...object(
    'The key, what it may do, and the Secret that it is written to.',
    {
      connection: connectionOf('key', 'manage:keys'),
      name: text('Name of the key; unset: that of this object.', { minLength: 1, maxLength: 120 }),
      projectId: text('The project, prj_…; or projectRef.', { pattern: '^prj_[0-9A-HJKMNP-TV-Z]{26}$' }),
      projectRef: object(
        'Project object of this namespace that the key belongs to; or projectId.',
        { name: text('Its name.', { minLength: 1, maxLength: 253, pattern: SECRET_NAME }) },
        ['name'],
      ),
      environment: { ...environment, description: `${environment['description']} Unset: the project's.` },
      scopes: {
        ...{ type: 'array', minItems: 1, maxItems: scopes.length, 'x-kubernetes-list-type': 'set' },
        description: 'What the key may do; none that the key of the connection lacks.',
        items: { type: 'string', enum: [...scopes] },
      },
      limits: limits('Limits of the key; unset: those of the project and the plan alone.'),
      budget: budget('dailyMicro', 'Micro-USD of a UTC day.'),
      expiresIn: text(
        'Life of each key in whole hours, 1h to 17520h; it is rotated with a third of it left.',
        {
          pattern: HOURS,
        },
      ),
      rotate: object('When the key is rotated by itself.', {
        everyHours: count('Hours from one rotation to the next.', { maximum: 17_520 }),
        graceSeconds: count('How long a rotated key still works.', {
          ...{ minimum: 0, maximum: 604_800, default: 3_600 },
        }),
      }),
      secretRef: object(
        'Secret that the operator writes; it must not exist, or be of this object.',
        { name: text('Its name.', { maxLength: 253, pattern: SECRET_NAME }) },
        ['name'],
      ),
    },
    ['connection', 'scopes', 'secretRef'],
  ),
  'x-kubernetes-validations': [
    {
      rule: 'has(self.projectId) != has(self.projectRef)',
      message: 'one of projectId and projectRef is given',
    },
    fixed('environment'),
  ],
};

const time = (description: string) => text(description, { format: 'date-time' });
const conditions: Schema = {
  type: 'array',
  description: 'Accepted, Synced and Ready, each with its reason.',
  items: conditionOf(accessConditions),
  ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
};

const kinds = {
  Project: {
    ...{ description: 'A project of the gateway, kept by this object.', shortNames: [], spec: project },
    status: object('State of the project in the service.', {
      ...{ observedGeneration, projectId: text('The project, prj_….'), conditions },
    }),
    columns: [column('Slug', 'string', '.spec.slug'), column('Project', 'string', '.status.projectId')],
  },
  ApiKey: {
    ...{ description: 'An API key of the gateway, written to a Secret.', shortNames: ['ak'], spec: apiKey },
    status: object('State of the key in the service; its value is in the Secret alone.', {
      observedGeneration,
      keyId: text('The key in the Secret, key_….'),
      projectId: text('Its project, prj_….'),
      secretName: text('The Secret that holds it.'),
      createdAt: time('When the key was made.'),
      expiresAt: time('When it ends.'),
      rotatesAt: time('When it is rotated by itself.'),
      conditions,
    }),
    columns: [
      column('Secret', 'string', '.spec.secretRef.name'),
      column('Key', 'string', '.status.keyId'),
      column('Rotates', 'date', '.status.rotatesAt', 1),
    ],
  },
} as const;

/** The definition of `kind` as the file of the chart. */
export function accessYaml(kind: AccessKind): string {
  const { description, shortNames, spec, status, columns } = kinds[kind];
  const plural = plurals[kind];
  const schema = {
    ...object(
      description,
      {
        apiVersion: text(`Version of the definition, ${GROUP}/${VERSION}.`),
        kind: text(`${kind}.`),
        ...{ metadata: { type: 'object' }, spec, status },
      },
      ['spec'],
    ),
  };
  const definition = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.${GROUP}`, annotations: { 'helm.sh/resource-policy': 'keep' } },
    spec: {
      ...{ group: GROUP, scope: 'Namespaced' },
      names: {
        ...{ kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
        ...(shortNames.length === 0 ? {} : { shortNames }),
      },
      versions: [
        {
          ...{ name: VERSION, served: true, storage: true, subresources: { status: {} } },
          additionalPrinterColumns: [
            column('Ready', 'string', ready('status')),
            ...columns,
            column('Reason', 'string', ready('reason'), 1),
            column('Age', 'date', '.metadata.creationTimestamp'),
          ],
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
  return `# Generated by \`node operator/definition/write-crd.ts\`; a test compares them.\n${yamlText(definition)}`;
}
