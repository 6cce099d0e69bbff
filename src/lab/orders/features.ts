import { feature } from '../../platform/http/feature-flags.ts'

export const onSiteCollection = feature('on_site_collection', 'orders whose sample is taken at a site of the customer')
