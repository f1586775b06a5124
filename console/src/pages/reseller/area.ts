// Both pages of the area, loaded as one: what other pages load first names a single file for it.
export { CustomerPage } from './customer/page.tsx';
export { ResellerPage } from './page.tsx';
