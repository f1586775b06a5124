// What is kept of users and groups: the schemas that directories read (RFC 7643 section 7) and that requests are read by.
import { mappedRoles } from '../sso/roles.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'reference' | 'complex';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable';
  readonly returned: 'default' | 'always';
  readonly uniqueness: 'none' | 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
  /** Attributes of RFC 7643 that are not kept: directories send them, and they change nothing. */
  readonly ignored: readonly string[];
}

function attribute(name: string, description: string, more: Partial<Attribute> = {}): Attribute {
  return {
    ...{ name, type: 'string', multiValued: false, description, required: false, caseExact: false },
    ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
    ...more,
  };
}

const value = (description: string, more: Partial<Attribute> = {}) => attribute('value', description, more);
const labels = (types: readonly string[]) => [
  attribute('display', 'How the value is shown.'),
  attribute('type', 'What the value is for.', types.length === 0 ? {} : { canonicalValues: types }),
  attribute('primary', 'Whether it is the preferred one.', { type: 'boolean' }),
];
const reference = (types: readonly string[], mutability: Attribute['mutability']) =>
  attribute('$ref', 'Address of the resource.', {
    ...{ type: 'reference', referenceTypes: types, caseExact: true, mutability },
  });

const EXTERNAL_ID = attribute('externalId', 'The name that the directory has for it.', { caseExact: true });

export const userSchema: Schema = {
  id: USER,
  name: 'User',
  description: 'A member of the organization.',
  attributes: [
    attribute('userName', 'An e-mail address of a domain that the organization has proved.', {
      ...{ required: true, uniqueness: 'server' },
    }),
    EXTERNAL_ID,
    attribute('name', 'The parts of the name.', {
      type: 'complex',
      subAttributes: [
        attribute('formatted', 'The whole name.'),
        attribute('familyName', 'Family name.'),
        attribute('givenName', 'Given name.'),
      ],
    }),
    attribute('displayName', 'The name that is shown.'),
    attribute('active', 'Whether the person may use the organization.', {
      ...{ type: 'boolean', required: true },
    }),
    attribute('emails', 'Addresses of the person; none of them signs anybody in.', {
      ...{ type: 'complex', multiValued: true },
      subAttributes: [value('An address.'), ...labels(['work', 'home', 'other'])],
    }),
    attribute('roles', 'The role in the organization, where no group gives one.', {
      ...{ type: 'complex', multiValued: true },
      subAttributes: [value('A role.', { canonicalValues: mappedRoles }), ...labels([])],
    }),
    attribute('groups', 'The groups that the person is in; they change at the groups.', {
      ...{ type: 'complex', multiValued: true, mutability: 'readOnly' },
      subAttributes: [
        value('Id of a group.', { mutability: 'readOnly' }),
        reference(['Group'], 'readOnly'),
        attribute('display', 'Name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'Always direct.', { mutability: 'readOnly', canonicalValues: ['direct'] }),
      ],
    }),
  ],
  ignored: [
    ...['nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone', 'password'],
    ...['phoneNumbers', 'ims', 'photos', 'addresses', 'entitlements', 'x509Certificates'],
  ],
};

export const groupSchema: Schema = {
  id: GROUP,
  name: 'Group',
  description: 'A group of the directory, which can give its members a role.',
  attributes: [
    attribute('displayName', 'The name, by which a group is mapped to a role.', {
      ...{ required: true, uniqueness: 'server' },
    }),
    EXTERNAL_ID,
    attribute('members', 'The users in it.', {
      ...{ type: 'complex', multiValued: true },
      subAttributes: [
        value('Id of a user.', { mutability: 'immutable', caseExact: true }),
        reference(['User'], 'immutable'),
        attribute('type', 'Always User.', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
    }),
  ],
  ignored: [],
};
