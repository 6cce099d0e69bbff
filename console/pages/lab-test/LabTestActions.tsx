import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from 'react-router'
import { api } from '../../api/client.ts'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { usePermissions } from '../../session/permissions.ts'
import { useLaunch } from '../../session/session.ts'
import { useTeam } from '../../session/team.ts'
import type { LabTest } from '../catalog/catalog-queries.ts'
import { useLabTestRefresh } from './lab-test-queries.ts'

/** What can be done with a test: order it, approve it, offer it or not. */
export function LabTestActions({ test }: { test: LabTest }) {
  const { pathTo } = useTeam()
  const isPermitted = usePermissions()
  const isEmbedded = useLaunch()?.modality === 'feature_embed'
  const canOrder = !isEmbedded && isPermitted('create_order') && test.status === 'active'
  return (
    <>
      {canOrder && (
        <Button component={Link} to={pathTo(`orders/new?test=${test.id}`)}>
          Order
        </Button>
      )}
      {!test.auto_generated && test.status !== 'pending_approval' && isPermitted('update_lab_test_for_team') && (
        <Activation test={test} />
      )}
      {test.status === 'pending_approval' && isPermitted('approve_lab_test') && <Approval test={test} />}
    </>
  )
}

function Approval({ test: { id, name } }: { test: LabTest }) {
  const { org_id, environment, region } = useTeam()
  const refresh = useLabTestRefresh(id)
  const [isOpen, { open, close }] = useDisclosure()
  const path = { org_id, env: environment, region, lab_test_id: id }
  return (
    <>
      <Button onClick={open}>Approve</Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        title="Approve the lab test"
        action="Approve"
        onConfirm={async () => {
          await api.POST('/v1/org/{org_id}/lab_test/{env}/{region}/{lab_test_id}/approve', { params: { path } })
          await refresh()
        }}
      >
        <Text size="sm">
          {name} can then be ordered in {environment}.
        </Text>
      </ConfirmDialog>
    </>
  )
}

/** An inactive test cannot be ordered. */
function Activation({ test: { id, name, status } }: { test: LabTest }) {
  const { api: teamApi } = useTeam()
  const refresh = useLabTestRefresh(id)
  const [isOpen, { open, close }] = useDisclosure()
  const isActive = status === 'active'
  const verb = isActive ? 'Deactivate' : 'Activate'
  return (
    <>
      <Button variant="default" onClick={open}>
        {verb}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        title={`${verb} the lab test`}
        action={verb}
        onConfirm={async () => {
          await teamApi.PATCH('/v3/lab_tests/{lab_test_id}', {
            params: { path: { lab_test_id: id } },
            body: { active: !isActive },
          })
          await refresh()
        }}
      >
        <Text size="sm">
          {isActive ? `${name} can no longer be ordered. Orders that were placed go on.` : `${name} can be ordered again.`}
        </Text>
      </ConfirmDialog>
    </>
  )
}
