// What a customer earns its reseller by month, and what it is called and billed as.
import type { ReactNode } from 'react';
import type { ResaleAccrualFragment, ResaleCustomerQuery } from '../../../api/gen/tools/graphql.ts';
import { Card } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { Money } from '../../../ui/money.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';

type Child = NonNullable<NonNullable<ResaleCustomerQuery['reseller']>['child']>;

const COLUMNS = [
  'Month',
  { name: 'Calls cost, USD', className: 'n' },
  { name: 'Markup, USD', className: 'n' },
  { name: 'You earn, USD', className: 'n' },
];

export function EarnedCard({ rows }: { rows: readonly ResaleAccrualFragment[] }) {
  if (rows.length === 0) return null;
  return (
    <Card title="What you earn" note="The last six months, in UTC." flush>
      <Table name="Earned by month" stacks>
        <Columns of={COLUMNS} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.month}>
              <td>
                {row.month} {row.status === 'OPEN' && <span className="faint">so far</span>}
              </td>
              <td className="n" data-label="Calls cost, USD">
                <Money micro={row.usageMicro} />
              </td>
              <td className="n" data-label="Markup, USD">
                <Money micro={row.markupMicro} />
              </td>
              <td className="n" data-label="You earn, USD">
                <Money micro={row.accruedMicro} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

/** An address as one line; its members have the names that the customer gave them. */
function addressText(address: unknown): string {
  if (address === null || typeof address !== 'object') return '';
  return Object.values(address)
    .filter((part) => typeof part === 'string' && part !== '')
    .join(', ');
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function FactsCard({ child }: { child: Child }) {
  const address = addressText(child.billingAddress);
  return (
    <Card title="Organisation">
      <dl className="resale-facts">
        <Fact name="Id">
          <IdText id={child.id} short />
        </Fact>
        <Fact name="Slug">{child.slug}</Fact>
        <Fact name="Plan">{child.planId}</Fact>
        <Fact name="Customer since">
          <Time at={child.createdAt} />
        </Fact>
        <Fact name="Billing country and currency">
          {child.billingCountry}, {child.billingCurrency}
        </Fact>
        <Fact name="Legal name">{child.legalName ?? '–'}</Fact>
        <Fact name="GSTIN">{child.gstin ?? '–'}</Fact>
        <Fact name="Tax status">{child.taxStatus.replaceAll('_', ' ')}</Fact>
        <Fact name="Billing e-mail">{child.billingEmail ?? '–'}</Fact>
        <Fact name="Billing address">{address === '' ? '–' : address}</Fact>
        {child.closedAt && (
          <Fact name="Closed">
            <Time at={child.closedAt} />
          </Fact>
        )}
      </dl>
    </Card>
  );
}
