import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Page } from '../../components/Page.tsx'
import { LabTests } from './LabTests.tsx'

/** What can be ordered. */
export const CatalogPage = () => (
  <Page title="Catalog" actions={<CodeSamples request={{ method: 'GET', path: '/v3/lab_test' }} />}>
    <LabTests />
  </Page>
)
