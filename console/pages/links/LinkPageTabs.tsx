import { LinkTabs } from '../../components/LinkTabs.tsx'

const TABS = [
  { label: 'Issues', path: 'links', operation: 'list_lab_link_issues' },
  { label: 'Messages', path: 'links/messages', operation: 'list_lab_messages' },
  { label: 'Lab accounts', path: 'links/accounts', operation: 'get_lab_links' },
  { label: 'Shadow', path: 'links/shadow', operation: 'get_lab_link_shadow' },
] as const

/** The pages about links to laboratories. */
export const LinkPageTabs = () => <LinkTabs label="Lab links" tabs={TABS} />
