// The queue: what a person must look at, over all organizations, oldest first.
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { StaffQueueDocument } from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Items } from '../items.tsx';

const PAGE = 20;

export function QueuePage() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query: StaffQueueDocument, variables: { first: PAGE } });
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.staffItems, async (after) => {
    const { data: page, error } = await client.query(StaffQueueDocument, { first: PAGE, after }).toPromise();
    return { page: page?.staffItems, error };
  });
  return (
    <>
      <PageHead title="Queue">
        <p>What the service could not end by itself. The oldest stands first.</p>
      </PageHead>
      <Card title="Open items" flush>
        {error && !data?.staffItems && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && data === undefined && (
          <div className="item">
            <Bone width={260} />
          </div>
        )}
        {rows?.length === 0 && (
          <Empty title="Nothing waits">Payments and the comparison of each day agree.</Empty>
        )}
        {rows !== undefined && rows.length > 0 && (
          <>
            <Items items={rows} linked onChanged={reread} />
            <OlderFoot shown={rows.length} what="items" {...older} />
          </>
        )}
      </Card>
    </>
  );
}
