// The name and the colours of a reseller around what its customers see at an address of ours.
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { SellerLooksDocument } from '../../api/gen/tools/graphql.ts';
import { wear } from '../../app/theme/storefront.ts';

/** Wears the reseller's colours as long as it is shown. */
export function SellerName() {
  const [{ data }] = useQuery({ query: SellerLooksDocument });
  const { displayName = '', logoUrl = null, accentLight: light, accentDark: dark } = data?.storefront ?? {};
  useEffect(() => (light && dark ? wear({ light, dark }) : undefined), [light, dark]);
  return (
    <>
      {logoUrl && <img src={logoUrl} alt="" height={20} />} {displayName}
    </>
  );
}
