// Ids of messages and attempts as receivers see them.
export const messageId = (id: string): string => `msg_${id.replaceAll('-', '')}`
export const attemptId = (id: string): string => `atmpt_${id.replaceAll('-', '')}`

/** The UUID inside an id of a message; undefined when it is not one. */
export function uuidFromId(message_id: string): string | undefined {
  const hex = /^msg_([0-9a-f]{32})$/.exec(message_id)?.[1]
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
