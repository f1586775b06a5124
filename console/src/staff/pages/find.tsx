// Find: one field for the id, the slug or a part of the name of an organization.
import { useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { FindDocument, type FoundOrgFragment } from '../../api/gen/staff/graphql.ts';
import { Card, PageHead } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { To } from '../go.tsx';
import { readFindSearch } from '../search.ts';
import { OrgStatus } from '../words.tsx';
import { FindForm } from './find-form.tsx';

/** As many as the operation answers with. */
const MOST = 20;

function FoundLine({ org }: { org: FoundOrgFragment }) {
  return (
    <tr>
      <td>
        <To className="link" href={`/orgs/${org.slug}`}>
          {org.name}
        </To>
        <div className="sub">{org.slug}</div>
      </td>
      <td>
        <OrgStatus status={org.status} />
      </td>
      <td className="soft">{org.kind.toLowerCase()}</td>
      <td className="soft">{org.planId}</td>
      <td className="soft">{org.billingCountry}</td>
      <td className="soft">
        <Time at={org.createdAt} />
      </td>
      <td>
        <IdText id={org.id} short />
      </td>
    </tr>
  );
}

function Found({ q }: { q: string }) {
  const [{ data, error }, again] = useQuery({ query: FindDocument, variables: { q } });
  const reread = () => again({ requestPolicy: 'network-only' });
  if (error && !data?.staffOrgs) {
    return (
      <div className="card">
        <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
      </div>
    );
  }
  const found = data?.staffOrgs;
  if (found?.length === 0) {
    return (
      <div className="card">
        <Empty title={`Nothing is called “${q}”`}>
          An id and the beginning of a slug are compared whole; of a name any part will do.
        </Empty>
      </div>
    );
  }
  const note = found?.length === MOST ? `The first ${MOST}; type more of the name.` : undefined;
  return (
    <Card title={found ? plural(found.length, 'organization') : 'Organizations'} note={note} flush>
      <Table name="Organizations found" busy={found === undefined || found === null}>
        <Columns of={['Name', 'Status', 'Kind', 'Plan', 'Country', 'Made', 'Id']} />
        <tbody>
          {found ? (
            found.map((org) => <FoundLine key={org.id} org={org} />)
          ) : (
            <BoneRows rows={3} columns={7} />
          )}
        </tbody>
      </Table>
    </Card>
  );
}

export function FindPage() {
  const { q } = readFindSearch(useSearch({ strict: false }));
  return (
    <>
      <PageHead title="Find">
        <p>An organization by its id, its slug, or a part of its name.</p>
      </PageHead>
      <div className="stack">
        <FindForm path="/" label="What to find" placeholder="acme" q={q} focused />
        {q !== undefined && <Found q={q} />}
      </div>
    </>
  );
}
