// What a directory can find out about this service (RFC 7644 section 4).
import type { Context } from '../../kernel/index.ts';
import { scimUrl } from './directory.ts';
import { missing } from './fault.ts';
import { COUNT_MAX, listOfResources } from './list.ts';
import { groupSchema, type Schema, userSchema } from './schemas.ts';

const PREFIX = 'urn:ietf:params:scim:schemas:core:2.0';

/** What is supported. */
export function serviceProviderConfig(context: Context): object {
  const base_url = context.services.sign_in.base_url;
  return {
    schemas: [`${PREFIX}:ServiceProviderConfig`],
    documentationUri: `${base_url}/docs`,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: COUNT_MAX },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        ...{ type: 'oauthbearertoken', name: 'Token of the directory', primary: true },
        description: 'A token that an owner or admin makes in the console, sent as Authorization: Bearer.',
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${scimUrl(context)}/ServiceProviderConfig` },
  };
}

function viewSchema(context: Context, { ignored: _, ...schema }: Schema): object {
  const meta = { resourceType: 'Schema', location: `${scimUrl(context)}/Schemas/${schema.id}` };
  return { schemas: [`${PREFIX}:Schema`], ...schema, meta };
}

function viewType(context: Context, { id, name, description }: Schema): object {
  return {
    schemas: [`${PREFIX}:ResourceType`],
    ...{ id: name, name, description, endpoint: `/${name}s`, schema: id, schemaExtensions: [] },
    meta: { resourceType: 'ResourceType', location: `${scimUrl(context)}/ResourceTypes/${name}` },
  };
}

const schemas = [userSchema, groupSchema];

/** The schemas, or the one that is named. @throws ScimFault 404. */
export function describeSchemas(context: Context, id: string | undefined): object {
  if (id === undefined) {
    const all = schemas.map((schema) => viewSchema(context, schema));
    return listOfResources(all.length, 0, all);
  }
  const found = schemas.find((schema) => schema.id.toLowerCase() === id.toLowerCase());
  if (found === undefined) throw missing();
  return viewSchema(context, found);
}

/** The types of resources, or the one that is named. @throws ScimFault 404. */
export function describeTypes(context: Context, id: string | undefined): object {
  if (id === undefined) {
    const all = schemas.map((schema) => viewType(context, schema));
    return listOfResources(all.length, 0, all);
  }
  const found = schemas.find(({ name }) => name === id);
  if (found === undefined) throw missing();
  return viewType(context, found);
}
