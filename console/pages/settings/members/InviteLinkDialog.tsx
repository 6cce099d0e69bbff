import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { ShownOnce } from '../../../components/ShownOnce.tsx'
import { useInviteChanges, type Invite, type InviteLink } from './member-queries.ts'

interface InviteLinkDialogProps {
  invite: Invite
  isOpen: boolean
  onClose: () => void
}

/** Creates a link that accepts an invitation, and shows it once. */
export const InviteLinkDialog = (props: InviteLinkDialogProps) => (
  <Modal
    opened={props.isOpen}
    onClose={props.onClose}
    title={`Link for ${props.invite.email}`}
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <LinkCreation {...props} />
  </Modal>
)

function LinkCreation({ invite, onClose }: InviteLinkDialogProps) {
  const { createLink } = useInviteChanges()
  const [link, setLink] = useState<InviteLink>()
  const creation = useMutation({ mutationFn: async () => setLink(await createLink(invite.id)) })
  if (link) return <ShownLink link={link} onClose={onClose} />
  return (
    <Stack gap="md">
      <Text size="sm">
        Creates a link with which {invite.email} becomes a member, for you to hand over. Links of this invitation before, also in
        mails, stop working, and it is valid for seven days from now.
      </Text>
      {creation.error && <ErrorNotice error={creation.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={creation.isPending} onClick={() => creation.mutate()}>
          Create link
        </Button>
      </Group>
    </Stack>
  )
}

/** A link that accepts an invitation. */
export const ShownLink = ({ link, onClose }: { link: InviteLink; onClose: () => void }) => (
  <ShownOnce text={link.url} label="the link" onClose={onClose}>
    Give this link to {link.email} and to nobody else: the person who opens it first becomes the member. It is shown now and never
    again.
  </ShownOnce>
)
