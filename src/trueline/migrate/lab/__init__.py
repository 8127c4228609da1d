"""The lab: both frameworks called alike, compared against noise, and what differs made as small as can be."""
