-- compatible with programs from migration 0030 on
-- The message that a mail carries is looked up before the mail is sent: whom it is about may be deleted. Most messages have no mail.
create index patient_message__mail on patient_message (mail_id) where mail_id is not null;
