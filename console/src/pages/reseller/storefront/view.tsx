// The storefront of a reseller: what customers see in place of the service, and where they find it.
import './storefront.css';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { ResaleStorefrontDocument } from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Card } from '../../../ui/card.tsx';
import { Bone, ErrorBox } from '../../../ui/states.tsx';
import { holds } from '../views.ts';
import { DomainsCard } from './domains.tsx';
import { StorefrontForm } from './form.tsx';
import { MailCard } from './mail.tsx';

export function StorefrontView() {
  const may = holds(useOrg(), 'storefront.write');
  const [{ data, error }, query] = useQuery({
    query: ResaleStorefrontDocument,
    requestPolicy: 'cache-and-network',
  });
  const again = () => query({ requestPolicy: 'network-only' });
  const { storefront, domains, tiers } = data?.reseller ?? {};
  if (!storefront)
    return (
      <Card title="Storefront">
        {error ? <ErrorBox fault={faultOfQuery(error)} onRetry={again} /> : <Bone width={320} height={120} />}
      </Card>
    );
  return (
    <>
      <StorefrontForm shop={storefront} tiers={tiers ?? []} may={may} onSaved={again} />
      <DomainsCard domains={domains ?? []} address={storefront.address ?? null} may={may} onChanged={again} />
      <MailCard />
    </>
  );
}
