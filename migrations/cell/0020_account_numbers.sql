-- The platform's accounts that nobody has renamed get the number that sandboxes show on labels.
update lab_account a set provider_account_id = '1234567890'
from lab l where l.id = a.lab_id and a.org_id is null and a.provider_account_id = 'platform-' || l.slug;
