// A DNS record that is to be published.
import { CopyButton } from '../../../ui/copy.tsx';

export function DnsRecord({ type, host, value }: { type: string; host: string; value: string }) {
  return (
    <div className="shop-record">
      <span className="mono">
        {type} {host}
      </span>
      <span className="row wrap">
        <code className="mono">{value}</code>
        <CopyButton text={value} what={`the value of ${type}`} />
      </span>
    </div>
  );
}
