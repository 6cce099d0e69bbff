import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { useTeam } from '../../../session/team.ts'
import { useSignInSettings } from '../sign-in/sign-in-query.ts'
import { ShownLink } from './InviteLinkDialog.tsx'
import { useInviteChanges, type InviteLink, type InviteStatus, type MemberRole } from './member-queries.ts'
import { RoleFields } from './RoleFields.tsx'

/** What came of an invitation: a link where the server sends no mail. */
interface Outcome {
  status: InviteStatus
  link?: InviteLink
}

/** Invites a person by mail or, where the server sends none, by a link that is shown once. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const { team } = useTeam()
  const settings = useSignInSettings()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<MemberRole>({ role: 'team_admin', bindings: [{ team_id: team.id, role: 'viewer' }] })
  const [outcome, setOutcome] = useState<Outcome>()
  const { invite, createLinkFor } = useInviteChanges()
  const sendsMail = settings.data?.sends_mail
  const invitation = useMutation({
    async mutationFn() {
      const status = await invite(email, role)
      const needsLink = sendsMail === false && status !== 'already_in_org'
      setOutcome({ status, ...(needsLink && { link: await createLinkFor(email) }) })
    },
  })
  if (outcome?.link) return <ShownLink link={outcome.link} onClose={onClose} />
  if (outcome) return <SentInvite email={email} status={outcome.status} onClose={onClose} />
  const emailError = fieldMessage(invitation.error, 'body.email')
  const teamsError = fieldMessage(invitation.error, 'body.team_role_bindings')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        invitation.mutate()
      }}
    >
      <Stack gap="md">
        <TextInput
          type="email"
          label="Email"
          required
          withAsterisk={false}
          value={email}
          error={emailError}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <RoleFields value={role} onChange={setRole} teamsError={teamsError} />
        <Text size="sm" c="dimmed">
          {sendsMail === false
            ? 'This server sends no mail: you get a link to hand over.'
            : 'The person gets a mail with a link, and becomes a member by opening it.'}
        </Text>
        {settings.error && <ErrorNotice error={settings.error} />}
        {invitation.error && emailError === undefined && teamsError === undefined && <ErrorNotice error={invitation.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!email.trim() || sendsMail === undefined} loading={invitation.isPending}>
            {sendsMail === false ? 'Invite and create a link' : 'Send the invitation'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const OUTCOMES: Record<InviteStatus, string> = {
  invite_created: 'A mail with a link is on its way to',
  invite_resent: 'The invitation was renewed. A mail with a new link is on its way to',
  already_in_org: 'Nothing was sent. A member of the organization already has the address',
}

const SentInvite = ({ email, status, onClose }: { email: string; status: InviteStatus; onClose: () => void }) => (
  <Stack gap="md">
    <Text size="sm" role="status">
      {OUTCOMES[status]} {email}.
    </Text>
    <Group justify="flex-end">
      <Button onClick={onClose}>Done</Button>
    </Group>
  </Stack>
)
