import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { useSession } from '../../../session/session.ts'
import { useMemberChanges, type Member, type MemberRole } from './member-queries.ts'
import { RoleFields } from './RoleFields.tsx'

interface ChangeRoleProps {
  member: Member
  isOpen: boolean
  onClose: () => void
}

/** Changes the role of a member. */
export const ChangeRole = (props: ChangeRoleProps) => (
  <Modal
    opened={props.isOpen}
    onClose={props.onClose}
    title={`Change the role of ${props.member.name}`}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <RoleForm {...props} />
  </Modal>
)

function RoleForm({ member, onClose }: ChangeRoleProps) {
  const { member: self } = useSession()
  const [role, setRole] = useState<MemberRole>({ role: member.role, bindings: member.team_role_bindings ?? [] })
  const { setRole: saveRole } = useMemberChanges()
  const change = useMutation({ mutationFn: () => saveRole(member.id, role), onSuccess: onClose })
  const teamsError = fieldMessage(change.error, 'body.team_role_bindings')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      <Stack gap="md">
        <RoleFields value={role} onChange={setRole} teamsError={teamsError} />
        <Text size="sm" c="dimmed">
          The change counts within seconds, in open pages too.
          {member.id === self.id && ' It is your own role: without an administrator of the organization you cannot take it back.'}
        </Text>
        {change.error && teamsError === undefined && <ErrorNotice error={change.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending}>
            Change role
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
