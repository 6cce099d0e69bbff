import { Tabs } from '@mantine/core'
import type { ComponentType } from 'react'
import { useNavigate, useParams } from 'react-router'
import { CodeSamples, type SampleRequest } from '../../components/CodeSamples.tsx'
import { Page } from '../../components/Page.tsx'
import { NotFoundPage } from '../../frame/NotFoundPage.tsx'
import { useTeam } from '../../session/team.ts'
import { CompendiumSearch } from './CompendiumSearch.tsx'
import { Laboratories } from './Laboratories.tsx'
import { LabTests } from './LabTests.tsx'
import { Markers } from './Markers.tsx'
import { OrderSetPreview } from './OrderSetPreview.tsx'
import classes from './CatalogPage.module.css'

interface Section {
  label: string
  content: ComponentType
  /** The request of its list; a section whose request depends on more shows it itself. */
  request?: SampleRequest
}

const SECTIONS: Record<string, Section> = {
  tests: { label: 'Tests', content: LabTests, request: { method: 'GET', path: '/v3/lab_test' } },
  search: { label: 'All laboratories', content: CompendiumSearch },
  markers: { label: 'Markers', content: Markers, request: { method: 'GET', path: '/v3/lab_tests/markers' } },
  'order-set': { label: 'Order set', content: OrderSetPreview },
  labs: { label: 'Laboratories', content: Laboratories, request: { method: 'GET', path: '/v3/lab_tests/labs' } },
}

/** What can be ordered, in sections with an address each. */
export function CatalogPage() {
  const { section = 'tests' } = useParams()
  const { pathTo } = useTeam()
  const navigate = useNavigate()
  const current = SECTIONS[section]
  if (!current) return <NotFoundPage />
  const { content: Content, request } = current
  return (
    <Page title="Catalog" actions={request && <CodeSamples request={request} />}>
      <Tabs
        value={section}
        onChange={(name) => void navigate(pathTo(name === null || name === 'tests' ? 'catalog' : `catalog/${name}`))}
        keepMounted={false}
      >
        <Tabs.List mb="md" className={classes.tabs}>
          {Object.entries(SECTIONS).map(([name, { label }]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={section}>
          <Content />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
